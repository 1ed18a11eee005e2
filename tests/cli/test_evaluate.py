"""`surefoot evaluate`: scores of answered questions, with their cost before and their reasons after."""

import json
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from services.endpoint import endpoint
from surefoot.evaluate import evaluation
from surefoot.evaluate.diagnose.diagnosis import ScoredRun
from surefoot.types import Message
from surefoot.types.protocols import LLM

Surefoot = Callable[..., Any]
METRIC = ("--metric", "answer_relevancy")


@pytest.fixture
def records(here: Path) -> Path:
    file = here / "records.jsonl"
    lines = [{"id": f"r{n}", "question": f"Who built bridge {n}?", "answer": "Aldwin"} for n in range(6)]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def asking(url: str) -> tuple[str, ...]:
    """The options that name an endpoint."""
    return ("--set", "llm.use=openai", "--set", "llm.model=m", "--set", f"llm.base_url={url}")


def test_records_are_scored_summed_up_and_diagnosed(surefoot: Surefoot, records: Path, here: Path) -> None:
    """A line a metric, and what to change first; all of it is in the folder, with what it was made with."""
    with endpoint() as server:
        done = surefoot("evaluate", records, "--run", "out", *METRIC, "--metric", "factuality", *asking(server.url))
    assert done.code == 0
    relevancy, factuality = done.out.splitlines()[1:3]
    assert relevancy.split()[0] == "answer_relevancy"
    assert relevancy.split()[-3:] == ["6", "0", "0"]
    assert factuality.split()[1:] == ["–", "–", "0", "0", "6"]
    assert len((here / "out" / "scores.jsonl").read_text().splitlines()) == 12
    diagnosis = json.loads((here / "out" / "diagnosis.json").read_text())
    assert diagnosis["executive_summary_gist"] in " ".join(done.out.split())
    assert [one["metric"] for one in json.loads((here / "out" / "summaries.json").read_text())] == [
        "answer_relevancy",
        "factuality",
    ]
    assert "answer_relevancy" in (here / "out" / "report.md").read_text().lower().replace(" ", "_")
    about = json.loads((here / "out" / "run.json").read_text())
    assert about["evaluation"]["llm"]["model"] == "m"
    assert about["source"].endswith("records.jsonl")


def test_each_step_of_a_change_stands_on_its_own_line(surefoot: Surefoot, here: Path) -> None:
    """As in the report: what to do, then what to watch, then when to keep it."""
    line = {"id": "r", "question": "Who built it?", "contexts": [], "answer": "Zebulon", "truth": "Aldwin"}
    (here / "wrong.jsonl").write_text(json.dumps(line) + "\n")
    done = surefoot("evaluate", "wrong.jsonl", "--run", "out", "--judge", "embedded", "--metric", "factuality")
    assert sum(told.startswith("- ") for told in done.out.splitlines()) == 3


def test_a_dry_run_says_what_it_would_cost_and_asks_nothing(surefoot: Surefoot, records: Path, here: Path) -> None:
    """Calls, tokens, minutes, and money where prices are set."""
    with endpoint() as server:
        words = ("evaluate", records, "--run", "out", *METRIC, "--dry-run", *asking(server.url))
        done = surefoot(*words)
        priced = surefoot(*words, "--set", "judge.input_price=1000.0", "--set", "judge.output_price=1000.0")
        assert not server.asked
    assert done.code == 0
    assert "6 records, 1 metrics by llm:m" in done.out
    assert "about 6 calls" in done.out
    assert "the diagnosis takes 2 calls of m more" in done.out
    assert "no prices are set" in done.out
    assert "money: 0" not in priced.out.replace("money: 0.00", "money: 0")
    assert not (here / "out").exists()


def test_what_was_judged_and_diagnosed_is_not_paid_again(surefoot: Surefoot, records: Path) -> None:
    """The same command over the same records asks for no judgement; only for the two texts of the diagnosis, which this
    endpoint does not write in the form that was asked for."""
    with endpoint() as server:
        words = ("evaluate", records, "--run", "out", *METRIC, *asking(server.url))
        first = surefoot(*words)
        paid = server.paid.total()
        assert paid > 6
        assert surefoot(*words).out == first.out
        again = server.paid.total() - paid
    assert again == 2


def test_who_leaves_while_it_is_diagnosed_is_not_held(
    surefoot: Surefoot, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an endpoint that asks to wait for a minute."""

    def left(llm: LLM, run: ScoredRun, executor: Executor, room: int | None) -> None:
        server.refused, server.retry_after = 1.0, "60"
        executor.submit(llm.complete, [Message("user", "What does it say?")])
        while not server.told["refused"]:
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "report", left)
    with endpoint() as server:
        begun = time.monotonic()
        assert surefoot("evaluate", records, "--run", "out", *METRIC, *asking(server.url)).code != 0
        assert time.monotonic() - begun < 40


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_judge_that_is_refused_ends_it_after_three_requests_and_nothing_is_claimed(
    surefoot: Surefoot, records: Path, here: Path, status: int
) -> None:
    """With what happened, where, and what to do; the same command goes on once the key is mended."""
    with endpoint(refused=1.0, status=status) as server:
        words = ("evaluate", records, "--run", "out", *METRIC, *asking(server.url))
        done = surefoot(*words)
        assert (done.code, done.out, server.asked.total()) == (3, "", 3)
        for part in (server.url, f"HTTP {status}", "check ", "run it again", "after 3 refusals in a row"):
            assert part in done.err
        assert not {"summaries.json", "diagnosis.json", "report.md"} & {file.name for file in (here / "out").iterdir()}
        assert surefoot("gate", "out", "--min", "unscored<=0.5").code == 1
        server.refused = 0.0
        again = surefoot(*words)
    assert again.code == 0
    assert again.out.splitlines()[1].split()[-3:] == ["6", "0", "0"]


@pytest.mark.parametrize("fault", [{"garbled": 1.0}, {"refused": 1.0, "status": 500}])
def test_no_diagnosis_is_made_where_nothing_was_judged(
    surefoot: Surefoot, records: Path, here: Path, fault: dict[str, Any]
) -> None:
    """Whatever the reason, which is said; the reply that could not be read is asked for anew by another run."""
    with endpoint(**fault) as server:
        words = (records, *METRIC, *asking(server.url), "--set", "judge.retries=0")
        done = surefoot("evaluate", "--run", "out", *words)
        assert (done.code, done.out) == (3, "")
        assert "llm:m made none of 6 judgements; most often because: " in done.err
        assert not (here / "out" / "diagnosis.json").exists()
        server.garbled = server.refused = 0.0
        assert surefoot("evaluate", "--run", "other", *words).code == 0


def test_a_budget_ends_it_and_the_next_run_goes_on(surefoot: Surefoot, records: Path) -> None:
    """With the reason, and with another budget."""
    with endpoint() as server:
        words = ("evaluate", records, "--run", "out", *METRIC, *asking(server.url))
        first = surefoot(*words, "--budget", "4 calls", "--set", "judge.in_flight=2")
        assert "2 unscored: the budget of 4 calls is spent; run it again to go on" in first.out
        assert "run it again to ask for what is unscored" in first.err
        second = surefoot(*words)
        assert second.out.splitlines()[1].split()[-3:] == ["6", "0", "0"]
        assert server.paid.total() >= 6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--metric", "charm"), "no judge called 'charm'"),
        (("--judge", "people"), "[judge] use must be one of embedded, llm, not 'people'"),
        (("--judge", "llm", "--budget", "lots"), "a budget is like '300 calls'"),
        (("--judge", "llm", "--budget", "5"), "a budget of money needs prices"),
        (("--set", "judge.pace=1"), "[judge] has no option 'pace'"),
    ],
)
def test_a_mistake_is_said_before_anything_is_asked(
    surefoot: Surefoot, records: Path, words: tuple[str, ...], said: str
) -> None:
    done = surefoot("evaluate", records, "--run", "out", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def judged_by_people(here: Path) -> Path:
    """Forty answers, half of them wrong, a label of the whole answer for each; those of law are wrong."""
    lines = [
        {
            "id": f"r{n}",
            "question": f"Who built bridge {n}?",
            "answer": "Aldwin" if n % 2 else "Zebulon Quirk",
            "truth": "Aldwin",
            "meta": {"area": "food" if n % 2 else "law"},
        }
        for n in range(40)
    ]
    (here / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (here / "labels.jsonl").write_text(
        "".join(json.dumps({"id": f"r{n}", "label": bool(n % 2), "by": "Ada"}) + "\n" for n in range(40))
    )
    return here / "answers.jsonl"


def test_peoples_labels_correct_a_run_and_stay_with_it(surefoot: Surefoot, here: Path) -> None:
    """Labels that name no metric are of the whole answer: they move the cuts of factuality, and the verdicts are held
    against them. The next run of the folder needs no file."""
    words = ("evaluate", judged_by_people(here), "--run", "out", "--judge", "embedded", "--metric", "factuality")
    done = surefoot(*words, "--calibrate", "labels.jsonl")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "factuality: by 40 labels, 20 of them bad (AUC 1.00), lost up to" in text
    assert "People call 20 of 40 labelled answers bad. As shipped, 20 are called lost, 20 of them rightly" in text
    assert " ".join(surefoot(*words).out.split()) == text
    assert json.loads((here / "out" / "calibration.json").read_text())["after"]["rightly"] == 20


def test_labels_of_a_metric_correct_its_mean(surefoot: Surefoot, here: Path) -> None:
    """It is marked, and how many labels did it is said."""
    answers = judged_by_people(here)
    rows = [{"id": f"r{n}", "metric": "factuality", "label": n % 4 == 1} for n in range(40)]
    (here / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--run", "out", "--judge", "embedded", "--metric", "factuality", "--calibrate", "labels.jsonl")
    done = surefoot("evaluate", answers, *words)
    assert next(line.split()[1] for line in done.out.splitlines() if line.startswith("factuality")) == "0.250*"
    assert "* the mean that people would give, corrected with 40 labels" in done.out


def test_a_finished_run_is_sliced_by_another_field_without_judging_again(surefoot: Surefoot, here: Path) -> None:
    """The worst slice first, with the mean of the rest; a field that no record has is named."""
    words = ("evaluate", judged_by_people(here), "--run", "out", "--judge", "embedded", "--metric", "factuality")
    assert "worst slices" not in surefoot(*words).out
    judged = (here / "out" / "scores.jsonl").read_text()
    done = surefoot(*words, "--by", "meta.area")
    assert (done.code, (here / "out" / "scores.jsonl").read_text()) == (0, judged)
    assert "meta.area law factuality 20" in " ".join(done.out.split())
    assert "slices worse than the rest, beyond chance among so many: 1 of 2" in done.out
    assert "not read" not in done.err
    assert json.loads((here / "out" / "slices.json").read_text())[0]["value"] == "law"
    wrong = surefoot(*words, "--by", "planet")
    assert (wrong.code, "no record has 'planet'; tags: none" in wrong.err) == (2, True)


def test_a_field_under_another_name_is_mapped(surefoot: Surefoot, here: Path) -> None:
    """The run says how; what is no mapping is refused."""
    (here / "own.jsonl").write_text(json.dumps({"frage": {"text": "Who built it?"}, "antwort": "Aldwin"}) + "\n")
    words = ("evaluate", "own.jsonl", "--run", "out", "--judge", "embedded", "--metric", "grading_note")
    assert "--map question=PATH" in surefoot(*words).err
    assert surefoot(*words, "--map", "question=frage.text", "--map", "answer=antwort").code == 0
    assert json.loads((here / "out" / "run.json").read_text())["map"] == ["question=frage.text", "answer=antwort"]
    assert json.loads((here / "out" / "records.jsonl").read_text().splitlines()[0])["value"]["answer"] == "Aldwin"
    assert "is not FIELD=PATH" in surefoot(*words, "--map", "frage").err


def test_a_stronger_model_words_the_report(surefoot: Surefoot, records: Path, here: Path) -> None:
    """It alone, with the effort that is set; its calls draw from the judges' budget, and no score hangs on it."""
    other = ("--set", "report.model=strong", "--set", "report.effort=high")
    with endpoint() as server:
        words = ("evaluate", records, "--run", "out", *METRIC, *asking(server.url))
        assert surefoot(*words).code == 0
        assert "2 calls of strong more" in surefoot(*words, *other, "--dry-run").out
        server.bodies.clear()
        assert surefoot(*words, *other).code == 0
    assert {(body["model"], body["reasoning_effort"]) for body in server.bodies} == {("strong", "high")}


def test_the_settings_of_the_system_are_kept_with_the_run_and_told_to_the_model(
    surefoot: Surefoot, records: Path, here: Path
) -> None:
    """From TOML or JSON, without secrets, with the commit; in run.json, in the prompt and in the viewer."""
    (here / "system.toml").write_text('top_k = 7\n[llm]\nmodel = "m-1"\napi_key = "opensesame"\n')
    (here / "system.json").write_text('{"top_k": 7, "llm": {"model": "m-1", "api_key": "opensesame"}}')
    with endpoint() as server:
        for name in ("system.toml", "system.json"):
            words = ("--run", name + ".run", *METRIC, "--system", name, "--commit", "f3ab", *asking(server.url))
            assert surefoot("evaluate", records, *words).code == 0
    for name in ("system.toml", "system.json"):
        about = json.loads((here / f"{name}.run" / "run.json").read_text())
        assert about["config"] == {"top_k": 7, "llm": {"model": "m-1", "api_key": "(hidden)"}}
        assert about["commit"] == "f3ab"
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    configs = [json.loads(one.partition("\n\nYour last reply")[0])["configs"] for one in prompts if '"configs"' in one]
    assert configs[0]["llm"] == about["config"]["llm"]
    assert configs[0]["commit"] == "f3ab"
    assert not any("opensesame" in one for one in prompts)


@pytest.mark.parametrize(
    ("text", "said"),
    [("top_k", "neither a JSON object nor TOML"), ("[" + "a" * 70_000 + "]", "at most 64,000 are read")],
)
def test_settings_that_cannot_be_read_are_refused_before_anything_is_asked(
    surefoot: Surefoot, records: Path, here: Path, text: str, said: str
) -> None:
    """With what is wrong with the file."""
    (here / "system.toml").write_text(text)
    done = surefoot("evaluate", records, "--run", "out", *METRIC, "--judge", "embedded", "--system", "system.toml")
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (here / "out").exists()


def test_a_metric_of_ones_own_is_scored_like_any_other(surefoot: Surefoot, records: Path, here: Path) -> None:
    """It is in the table, the gate and the diagnosis: a record that it scores low is lost."""
    (here / "surefoot.toml").write_text(
        '[metric.politeness]\nquestion = "Is it polite?"\nsees = ["answer"]\nlevels = { polite = 1, rude = 0 }\n'
    )
    reply = json.dumps({"explanation": "It is curt.", "politeness_score": "rude", "quotes": ["Aldwin"]})
    with endpoint(replies=lambda _: reply) as server:
        done = surefoot("evaluate", records, "--run", "out", "--metric", "politeness", *asking(server.url))
    assert done.out.splitlines()[1].split() == ["politeness", "0.000", "0.000", "to", "0.000", "6", "0", "0"]
    assert surefoot("gate", "out", "--min", "politeness>=0.5").code == 1
    (item,) = json.loads((here / "out" / "diagnosis.json").read_text())["items"]
    assert (item["stage"], len(item["cases"])) == ("format", 6)


def test_a_model_of_the_report_needs_no_model_that_judges(surefoot: Surefoot, records: Path) -> None:
    """Judges of this machine, and insight and report by an endpoint: two calls, each asked for twice at most."""
    with endpoint() as server:
        words = ("--set", "report.use=openai", "--set", "report.model=strong", "--set", f"report.base_url={server.url}")
        done = surefoot("evaluate", records, "--run", "out", "--judge", "embedded", "--metric", "grading_note", *words)
    assert done.code == 0
    assert {body["model"] for body in server.bodies} == {"strong"}
