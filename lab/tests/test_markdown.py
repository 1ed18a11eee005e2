"""Reports hold words as words."""

from __future__ import annotations

import re

from surefoot_lab.markdown import bullets, fenced, plain, table

HOSTILE = "</pre></style><script>alert(1)</script> | **x** [a](javascript:b) ![i](http://e) `c` \x1b[31m\n\n# H &amp;"


def test_hostile_text_stays_text() -> None:
    """Rows keep their cells, marks are escaped, and no fence is closed from within."""
    text = "\n\n".join([plain(HOSTILE), bullets([HOSTILE]), table(1, [HOSTILE, "n"], [[HOSTILE, "1"]])])
    assert "<script" not in text
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]\(", text)
    (row,) = [line for line in text.splitlines() if line.endswith("| 1 |")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert fenced(f"``` \n{HOSTILE}").count("\n````") == 1
