"""The words the engine says to a model: one file each, so that a change of one shows as a diff."""

from functools import cache
from pathlib import Path
from string import Template


def prompt(name: str, **values: str) -> str:
    """The text of `<name>.md` with its `${...}` filled in.

    Raises:
        KeyError: a value that the text needs is missing.
    """
    return _template(name).substitute(values)


@cache
def _template(name: str) -> Template:
    text = (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
