"""What a user says on the command line of how files are to be read."""

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from ...errors import ConfigurationError


class Said(TypedDict):
    """As the namespaces over files take it."""

    day_first: bool | None
    decimal: Literal[".", ","] | None
    currency: str | None
    columns: Mapping[str, str]


def said_of(given: argparse.Namespace) -> Said:
    """What was said.

    Raises:
        ConfigurationError: a column is not given as ROLE=NAME.
    """
    return Said(
        day_first=given.day_first,
        decimal=given.decimal,
        currency=given.currency,
        columns=_columns(given.column),
    )


def add_conventions(command: argparse.ArgumentParser) -> None:
    """Adds what is said of files that leave something open."""
    command.add_argument("--currency", default=None, help="ISO code, for files that name none")
    command.add_argument(
        "--day-first",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="how to read 03/04 in files that leave it open",
    )
    command.add_argument(
        "--decimal", choices=(".", ","), default=None, help="decimal mark, for files that leave it open"
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="a column of a table whose header is not known, such as date=Kiedy; without a header, date=1",
    )


def as_words(said: Said) -> list[str]:
    """The same on the command line again."""
    words: list[str] = []
    if said["day_first"] is not None:
        words.append("--day-first" if said["day_first"] else "--no-day-first")
    if said["decimal"]:
        words += ["--decimal", said["decimal"]]
    if said["currency"]:
        words += ["--currency", said["currency"]]
    for role, name in said["columns"].items():
        words += ["--column", f"{role}={name}"]
    return words


def _columns(given: Sequence[str]) -> Mapping[str, str]:
    columns: dict[str, str] = {}
    for each in given:
        role, equals, name = each.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise ConfigurationError(f"--column {each!r} is no column: give ROLE=NAME, such as date=Kiedy")
        columns[role.strip()] = name.strip()
    return columns


_OPTIONS = (
    ("say which with day_first=", "say which with --day-first or --no-day-first"),
    ("say which with decimal=", "say which with --decimal . or --decimal ,"),
    ("day_first=True", "--day-first"),
    ("day_first=False", "--no-day-first"),
    ("decimal='.'", "--decimal ."),
    ("decimal=','", "--decimal ,"),
    ("currency= of the namespace", "--currency"),
    ("; read_as keeps the answer of the user", ""),
)
_COLUMNS = re.compile(r"columns=\{([^}]*)\}")
_COLUMN = re.compile(r"'(\w+)': (?:'([^']*)'|(\.\.\.))")


def as_options(message: str) -> str:
    """A message that says what to set in Python, with the options of the command line in its place."""
    for python, option in _OPTIONS:
        message = message.replace(python, option)
    return _COLUMNS.sub(_as_columns, message)


def _as_columns(found: re.Match[str]) -> str:
    named = _COLUMN.findall(found[1])
    return " ".join(f"--column {role}='{name or rest}'" for role, name, rest in named) or found[0]
