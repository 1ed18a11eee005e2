"""The skill that comes with the package: what it says of commands and fields is so."""

import re
from dataclasses import fields

import typer

from surefoot.cli import app
from surefoot.integrations import SKILL
from surefoot.types import Answer, Citation, Decision, Trace

TEXT = (SKILL / "SKILL.md").read_text("utf-8")
_, HEAD, BODY = TEXT.split("---\n", 2)


def test_an_agent_can_load_it() -> None:
    """The name is the folder's, and name and description have the lengths that the format of skills sets."""
    head = dict(line.split(": ", 1) for line in HEAD.splitlines())
    assert head["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9-]{1,64}", head["name"])
    assert 0 < len(head["description"]) <= 1024
    assert len(head["compatibility"]) <= 500


def test_its_commands_exist_with_their_options() -> None:
    """Each line that is to be typed."""
    known = typer.main.get_command(app)
    lines = re.findall(r"^    surefoot (\w+)(.*?)(?:#.*)?$", BODY, re.MULTILINE)
    assert len(lines) == 4
    for name, rest in lines:
        options = {option for parameter in known.commands[name].imported().params for option in parameter.opts}  # type: ignore[attr-defined]
        assert set(re.findall(r"--\w+", rest)) <= options


def test_the_fields_that_it_names_are_those_of_a_trace() -> None:
    """An agent that reads the JSON finds them."""
    held = {"answer": Answer, "decision": Decision}
    for whole, name in re.findall(r"`(answer|decision)\.(\w+)`", BODY):
        assert name in {one.name for one in fields(held[whole])}
    assert {"answer", "decision", "error"} <= {one.name for one in fields(Trace)}
    listed = re.search(r"`answer\.citations` \(([^)]*)\)", BODY)
    assert listed
    assert set(re.findall(r"`(\w+)`", listed[1])) <= {one.name for one in fields(Citation)}
