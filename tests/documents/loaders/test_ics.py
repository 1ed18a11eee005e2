"""Calendars as their readers see them."""

import pytest

from documents.loaders.opening import documents, one
from surefoot.documents.loaders import Unreadable

EVENT = r"""BEGIN:VCALENDAR
BEGIN:VEVENT
DTSTART;TZID="Europe/Zurich":20260512T140000
DTEND:20260512T123000Z
SUMMARY:Summer outing\, all
LOCATION:Hut \\n 7
ORGANIZER;CN="Brandt: Tilda":mailto:tilda@a.example
ATTENDEE:MAILTO:bob@a.example
DESCRIPTION:Bring a rope.\n\nForty
  beds are there.
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Pack
DUE;VALUE=DATE:20260511
END:VTODO
END:VCALENDAR
"""


def test_an_event_says_when_where_and_who():
    """Lines are unfolded and characters unescaped; the day is a field; an alarm is no text."""
    outing, pack = documents(EVENT.replace("\n", "\r\n"), "x.ics")
    assert (outing.title, dict(outing.meta)) == ("Summer outing, all", {"date": "2026-05-12"})
    assert [block.text for block in outing.blocks] == [
        "- starts: 2026-05-12 14:00 Europe/Zurich\n- ends: 2026-05-12 12:30 UTC\n- where: Hut \\n 7\n"
        "- organizer: Brandt: Tilda\n- attends: bob@a.example",
        "Bring a rope.",
        "Forty beds are there.",
    ]
    assert (pack.title, pack.text, dict(pack.meta)) == ("Pack", "- due: 2026-05-11", {"date": "2026-05-11"})


def test_an_event_of_a_title_alone_is_read():
    """It has a text."""
    assert one("BEGIN:VEVENT\nSUMMARY:Fair\nEND:VEVENT\n", "x.ics").text == "Fair"


def test_a_calendar_without_events_is_refused():
    """Whatever else it holds."""
    with pytest.raises(Unreadable, match="holds no event"):
        one("BEGIN:VCALENDAR\nEND:VCALENDAR\n", "x.ics")
