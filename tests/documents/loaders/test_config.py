"""Settings keep their comments, and stand under their sections."""

import pytest

from documents.loaders.opening import one, outline

INI = "# All.\n\n[server]\n; The port.\nport = 8080\n\nhost = a\n# For clients.\n[client]\nretries=3\n"
YAML = """# Top.
services:
  # The web.
  web:
    image: x
    ports:
      - 80
  "db":  # data
    image: y
name: z
list:
- a
"""


@pytest.mark.parametrize("name", ["x.ini", "x.toml", "x.conf", "x.cfg"])
def test_sections_are_headings_and_comments_stay(name):
    """A comment above a section belongs to it."""
    language = name[2:]
    assert outline(INI, name) == [
        ("code", "", "L1", f"```{language}\n# All.\n```"),
        ("code", "server", "L3", f"```{language}\n[server]\n; The port.\nport = 8080\n```"),
        ("code", "server", "L7", f"```{language}\nhost = a\n```"),
        ("code", "client", "L8", f"```{language}\n# For clients.\n[client]\nretries=3\n```"),
    ]
    assert one(INI, name).title == name


def test_outer_keys_of_yaml_are_headings():
    """Two levels of them; what is deeper stays together."""
    assert [(path, place) for _, path, place, _ in outline(YAML, "x.yaml")] == [
        ("services", "L1"),
        ("services › web", "L3"),
        ("services › db", "L8"),
        ("", "L10"),
        ("list", "L11"),
    ]
    assert "ports:\n      - 80" in one(YAML, "x.yml").text


def test_aliases_of_yaml_do_not_unfold():
    """Ten lines would be a thousand million values."""
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    assert len(one("\n".join(lines), "x.yaml").text) < 1000
