"""The lessons of the reader, and the names of its adapter."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
reader = pytest.importorskip("reader")

import numpy as np  # noqa: E402

from surefoot.generators.reader import NOT_THERE  # noqa: E402

Row = dict[str, Any]


def row(name: str, question: str, answers: list[str], *passages: tuple[str, str, int]) -> Row:
    told = [{"id": text, "title": title, "text": text, "label": label} for title, text, label in passages]
    return {"id": name, "question": question, "answers": answers, "passages": told}


BUILT = ("Bridge", "The bridge has one arch. Tomas Aldwin built it in 1911.", 1)
HUT = ("Hut", "The hut stands high.", 0)


def lesson_of(name: str, asked: Row, answered: bool) -> Any:
    """The lesson of a question, with an id whose draw keeps or takes its evidence."""
    for number in range(100):
        one = {**asked, "id": f"{number}"}
        if (random.Random(one["id"]).random() >= reader.UNANSWERED) is answered:
            return reader.lesson(name, one)
    raise AssertionError


def test_an_answer_has_the_number_of_the_source_that_holds_it() -> None:
    """Whatever place that source has been drawn to."""
    taught = lesson_of("nq/oracle", row("a", "who built it", ["tomas aldwin"], HUT, BUILT), answered=True)
    ((question, answer),) = taught.asked
    number = 1 + [text for _, text in taught.sources].index(BUILT[1])
    assert (question, answer) == ("who built it", f"Tomas aldwin [{number}].")


def test_without_its_evidence_a_question_is_not_answered() -> None:
    """No source that is left holds the answer."""
    taught = lesson_of("nq/oracle", row("a", "who built it", ["Tomas Aldwin"], HUT, BUILT), answered=False)
    assert taught.asked == [("who built it", NOT_THERE)]
    assert taught.sources == [("Hut", HUT[1])]


def test_an_answer_that_stands_nowhere_makes_no_lesson() -> None:
    """A reader that learned it would learn to invent."""
    assert reader.lesson("nq/oracle", row("a", "who built it", ["Josef Brandl"], HUT, BUILT)) is None


def test_several_hops_are_all_cited() -> None:
    """The answer, and the passages that lead to it."""
    town = ("Aldwin", "Tomas Aldwin was born in Larrow.", 1)
    asked = row("a", "Where was the builder of the bridge born?", ["Larrow"], BUILT, town, HUT)
    taught = lesson_of("hotpotqa/train", asked, answered=True)
    ((_, answer),) = taught.asked
    numbers = sorted(1 + [title for title, _ in taught.sources].index(title) for title in ("Bridge", "Aldwin"))
    assert answer == f"Larrow {''.join(f'[{n}]' for n in numbers)}."


def test_questions_on_one_page_share_its_sources() -> None:
    """Those that people wrote without an answer are among them."""
    rows = [
        row("a", "Who liked it?", [], (*BUILT[:2], 0), HUT),
        row("b", "Who built it?", ["Tomas Aldwin"], BUILT, HUT),
        row("c", "When was it built?", ["1911"], BUILT, HUT),
    ]
    (taught,) = reader.by_page(rows)
    at = 1 + [text for _, text in taught.sources].index(BUILT[1])
    assert sorted(taught.asked) == [
        ("When was it built?", f"1911 [{at}]."),
        ("Who built it?", f"Tomas Aldwin [{at}]."),
        ("Who liked it?", NOT_THERE),
    ]


def test_articles_are_held_out_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions of one article are on the same side, and what is held out is in no lesson."""
    pages = [f"Page {n}" for n in range(40)]
    rows = [
        row(f"{page} {n}", f"who built {page}", ["Tomas Aldwin"], (page, f"Tomas Aldwin built {page} {n}.", 1), HUT)
        for page in pages
        for n in (1, 2)
    ]
    kept = {one["passages"][0]["title"] for one in rows if reader.held_out(one)}
    assert 0 < len(kept) < len(pages)
    (tmp_path / "nq").mkdir()
    (tmp_path / "nq" / "oracle.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    monkeypatch.setattr(reader, "SETS", {"nq/oracle": 9999})
    taught = reader.lessons(tmp_path)
    assert taught == reader.lessons(tmp_path)
    shown = {title for one in taught for title, _ in one.sources if title != "Hut"}
    assert shown
    assert shown <= set(pages) - kept


def test_rows_of_a_head_are_told_apart_by_turns() -> None:
    """llama.cpp turns neighbours together where the network turns a row and the one half a head later."""
    assert reader.permuted(np.arange(8)[:, None], 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_the_adapter_has_llama_cpps_names_and_no_effect_at_first() -> None:
    """Two matrices a layer; the second begins at nought, so the model says what it said."""
    torch.manual_seed(1)
    layer = reader.Adapted(torch.nn.Linear(6, 8, bias=False))
    x = torch.randn(2, 6)
    assert torch.equal(layer(x), layer.layer(x))
    with torch.no_grad():
        layer.lora_b.copy_(torch.arange(8.0)[:, None].expand(8, reader.RANK))
    found = reader.tensors({"blk.0.attn_q.weight": layer, "blk.0.ffn_up.weight": layer}, (2, 1))
    assert {name: (m.shape, str(m.dtype)) for name, m in found.items()} == {
        f"blk.0.{place}.weight.lora_{side}": (shape, "float16")
        for place in ("attn_q", "ffn_up")
        for side, shape in (("a", (reader.RANK, 6)), ("b", (8, reader.RANK)))
    }
    assert found["blk.0.attn_q.weight.lora_b"][:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert found["blk.0.ffn_up.weight.lora_b"][:, 0].tolist() == [*range(8)]


class Characters:
    """A tokeniser of letters, with a mark for each turn."""

    def apply_chat_template(
        self, turns: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool = False
    ) -> str:
        said = "".join(f"<{turn['role'][0]}>{turn['content']}" for turn in turns)
        return f"{said}<a>" if add_generation_prompt else said

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) for letter in text]}


def test_only_answers_are_learned_and_no_question_sees_another() -> None:
    """What is wanted spells the answers; a piece of the second question sees the sources and itself."""
    asked = [("Who?", "Bob [1]."), ("When?", NOT_THERE)]
    pieces = reader.encoded(Characters(), reader.Lesson("set", [("", "Bob did.")], asked))
    wanted = "".join(map(chr, pieces.wanted.tolist()))
    assert wanted == "".join(f"{answer}<|im_end|>" for _, answer in asked)
    text = "".join(map(chr, pieces.ids[0].tolist()))
    first, second = text.index("<u>Who?"), text.index("<u>When?")
    seen = pieces.mask[0, 0, second] == 0
    assert seen[:first].all()
    assert not seen[first:second].any()
    assert pieces.places[0, first] == pieces.places[0, second] == first
