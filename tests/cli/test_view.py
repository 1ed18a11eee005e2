"""`surefoot view`."""

import base64
import gzip
import json
import re
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sample_run
from surefoot.evaluate.report.page import read

Run = Callable[..., Any]


def test_html_writes_one_file(surefoot: Run, here: Path) -> None:
    """Where it is told to, saying how large it is."""
    sample_run.write(here / "run", 12)
    done = surefoot("view", "run", "--html", "out/page.html")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("out/page.html: 12 records, ")
    assert (here / "out/page.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_report_can_be_shared_without_a_text(surefoot: Run, here: Path) -> None:
    """No question, answer, passage, reason, id, setting or path stands in it; every score does."""
    sample_run.write(here / "run", 12)
    about = here / "run" / "run.json"
    about.write_text(
        json.dumps({**json.loads(about.read_text("utf-8")), "source": "/home/somebody/runs/first"}), "utf-8"
    )
    assert surefoot("view", "run", "--html", "whole.html").code == 0
    assert surefoot("view", "run", "--share-safe", "--html", "safe.html").code == 0
    whole, safe = ("\n".join(opened(here / name)) for name in ("whole.html", "safe.html"))
    run = read(here / "run")
    record = run.records["q00000"]
    texts = [record["question"], record["answer"], *(passage["text"] for passage in record["trace"]["passages"])]
    texts += [score["reason"] for score in run.scores["q00000"] if score["reason"]]
    diagnosis = run.diagnosis or {}
    texts += [diagnosis["executive_summary_gist"], diagnosis["items"][0]["title"]]
    texts += [next(one["reason"] for one in run.outcomes.values() if one["reason"])]
    texts += ["q00000", "Demo library", "/home/somebody"]
    for text in texts:
        assert json.dumps(text, ensure_ascii=False)[1:-1] in whole
        assert json.dumps(text, ensure_ascii=False)[1:-1] not in safe
    values = [re.findall(r'"metric":"(\w+)","value":([\d.]+|null)', page) for page in (whole, safe)]
    assert values[0] == values[1] != []


def opened(file: Path) -> list[str]:
    packed = re.findall(r'<script type="text/plain" id="[^"]*">([^<]*)</script>', file.read_text("utf-8"))
    return [gzip.decompress(base64.b64decode(part)).decode() for part in packed]


def test_the_page_goes_into_the_folder_and_the_browser_opens_it(
    surefoot: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is told to leave the browser alone."""
    sample_run.write(here / "run", 12)
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert surefoot("view", "run", "--no-browser").code == 0
    assert opened == []
    assert surefoot("view", "run").code == 0
    assert opened == [(here / "run/report.html").resolve().as_uri()]
