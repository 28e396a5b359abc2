"""Where the header of a table is and which column plays which role: by its words, or as a person says."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .dates import is_date
from .source import SourceError, UndecidedError, quote
from .words import Vocabulary, plain

HEADER_WITHIN = 100
"""Lines among which the header is looked for; banks put up to a few dozen above it."""
_SHOWN_COLUMNS = 20
_NUMBER = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column plays which role."""

    names: tuple[str, ...]
    """The header as written, without empty names at its end; numbers from 1 where there is none."""
    roles: Mapping[str, tuple[int, ...]]
    """Indexes by role, the best word first."""

    def first(self, role: str) -> int | None:
        """Index of the best column of a role; None when there is none."""
        return self.roles.get(role, (None,))[0]

    def cell(self, cells: Sequence[str], role: str) -> str:
        """The cell of a role, stripped; empty when there is none."""
        found = self.roles.get(role)
        return cells[found[0]] if found and found[0] < len(cells) else ""

    def joined(self, cells: Sequence[str], role: str) -> str:
        """All cells of a role in the order of the file, as one line."""
        parts = (cells[index] for index in sorted(self.roles.get(role, ())) if index < len(cells))
        return " ".join(" ".join(parts).split())


class Candidate(NamedTuple):
    """One line that may be the header."""

    row: int
    """Line in the file, counted from 1."""
    cells: tuple[str, ...]
    delimiter: str
    """What it was split at."""


class Header(NamedTuple):
    """Where the names of the columns are, and what they say."""

    row: int
    """Its line; 0 where no line names the columns."""
    begins: int
    """The first line below it; the first one with a date where no line names the columns."""
    delimiter: str
    columns: Columns


def find_header(
    candidates: Sequence[Candidate], vocabulary: Vocabulary, chosen: Mapping[str, str]
) -> Header | None:
    """The line that names a date and an amount, or debit and credit; None when there is none.

    Columns that a person has chosen count before the words of the vocabulary. Chosen by their numbers,
    they need no header.
    """
    if chosen and all(_NUMBER.fullmatch(name) for name in chosen.values()):
        return _by_number(candidates, chosen)
    best: Header | None = None
    for each in candidates:
        columns = _columns(each.cells, vocabulary, chosen)
        if columns is None or not _is_header(columns, chosen):
            continue
        if best is None or len(columns.roles) > len(best.columns.roles):
            best = Header(each.row, each.row + 1, each.delimiter, columns)
    return best


def check_roles(file: str, chosen: Mapping[str, str], vocabulary: Vocabulary) -> None:
    """Refuses a role that no column can play.

    Raises:
        SourceError: there is no such role; the message names those there are.
    """
    wrong = next((role for role in chosen if role not in vocabulary), None)
    if wrong is not None:
        what = f"columns: there is no role {wrong!r}; the roles are {', '.join(vocabulary)}"
        raise SourceError(file, what)


def no_header(
    candidates: Sequence[Candidate], file: str, vocabulary: Vocabulary, chosen: Mapping[str, str]
) -> SourceError:
    """The refusal of a table without a known header: it shows the columns, and what decides."""
    shape = _shape(candidates)
    if shape is None:
        return _no_table(candidates, file)
    numbered = {str(at) for at in range(1, len(shape.cells) + 1)}
    missing = next((name for name in chosen.values() if name not in numbered.union(shape.cells)), None)
    lacks = "" if missing is None else f"there is no column {quote(missing)}: "
    says = _says_numbers(shape) if any(map(is_date, shape.cells)) else _says_names(shape, vocabulary)
    needed = "it needs at least a date and an amount, or a debit and a credit"
    what = f"{lacks}{says}; {needed}. The roles are {', '.join(vocabulary)}"
    return UndecidedError(file, what, argument="columns", row=shape.row)


def _says_numbers(shape: Candidate) -> str:
    listed = ", ".join(f"{at} = {quote(cell)}" for at, cell in enumerate(shape.cells[:_SHOWN_COLUMNS], 1))
    example = "columns={'date': '1', 'amount': '2'}"
    return f"no line names the columns, which begin with {listed}; say by number which is which: {example}"


def _says_names(shape: Candidate, vocabulary: Vocabulary) -> str:
    found = _columns(shape.cells, vocabulary, {})
    roles = found.roles if found is not None else dict[str, tuple[int, ...]]()
    known = {index: f" (known as {role})" for role, at in roles.items() for index in at}
    named = [(at, name) for at, name in enumerate(shape.cells[:_SHOWN_COLUMNS]) if name]
    listed = ", ".join(f"{quote(name)}{known.get(at, '')}" for at, name in named)
    example = f"columns={{'date': {shape.cells[0]!r}, 'amount': ...}}"
    return f"no header that is known: the columns are {listed}; say by name which is which: {example}"


def _no_table(candidates: Sequence[Candidate], file: str) -> SourceError:
    first = candidates[0] if candidates else None
    return SourceError(
        file,
        f"no header among the first {HEADER_WITHIN} lines; one line has to name the columns, at"
        " least a date and an amount (or debit and credit), such as: Date;Text;Amount",
        row=first.row if first else None,
        value=first.delimiter.join(first.cells) if first else "",
    )


def shape_of(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """What a layout without a known header is told from others by: its names, or kinds of cells."""
    shape = _shape(candidates)
    if shape is None:
        return ()
    if not any(map(is_date, shape.cells)):
        return shape.cells
    kinds = ("date" if is_date(cell) else "number" if _is_number(cell) else "text" for cell in shape.cells)
    return (shape.delimiter, *kinds)


def _is_number(cell: str) -> bool:
    return bool(cell) and not cell.strip("0123456789.,+- '")


def _shape(candidates: Sequence[Candidate]) -> Candidate | None:
    """The first line of the widest table that most lines agree on; None when nothing is a table."""
    widths = Counter((each.delimiter, len(each.cells)) for each in candidates if len(each.cells) > 1)
    if not widths:
        return None
    delimiter, width = max(widths, key=lambda key: (widths[key], key[1]))
    fits = [each for each in candidates if (each.delimiter, len(each.cells)) == (delimiter, width)]
    fullest = max(map(_filled, fits))
    # Lines above a header are padded to its width by some banks, and hardly filled.
    return next(each for each in fits if 4 * _filled(each) >= 3 * fullest)


def _filled(candidate: Candidate) -> int:
    return sum(1 for cell in candidate.cells if cell)


def _is_header(columns: Columns, chosen: Mapping[str, str]) -> bool:
    roles = set(columns.roles)
    dated = "date" in roles or "value_date" in roles
    # One of debit and credit alone has to be said: by its words it may be half of what there is.
    single = {"debit", "credit"} & chosen.keys()
    return dated and ("amount" in roles or {"debit", "credit"} <= roles or bool(single))


def _columns(cells: Sequence[str], vocabulary: Vocabulary, chosen: Mapping[str, str]) -> Columns | None:
    """The roles that a line gives its columns; None when it has not all that were chosen."""
    names = tuple(cell.strip() for cell in cells)
    while names and not names[-1]:
        names = names[:-1]
    exact = [_squeezed(name) for name in names]
    roles: dict[str, tuple[int, ...]] = {}
    for role, name in chosen.items():
        if _squeezed(name) not in exact:
            return None
        roles[role] = (exact.index(_squeezed(name)),)
    taken = {index for found in roles.values() for index in found}
    words = ["" if index in taken else plain(name) for index, name in enumerate(names)]
    for role, known in vocabulary.items():
        if role not in roles and (by_word := _ranked(words, known)):
            roles[role] = by_word
    if {"debit", "credit"} & chosen.keys() and "amount" not in chosen:
        roles.pop("amount", None)
    return Columns(names, roles)


def _ranked(words: Sequence[str], known: Sequence[str]) -> tuple[int, ...]:
    found = [(known.index(word), index) for index, word in enumerate(words) if word in known]
    return tuple(index for _, index in sorted(found))


def _squeezed(name: str) -> str:
    return " ".join(name.split()).casefold()


def _by_number(candidates: Sequence[Candidate], chosen: Mapping[str, str]) -> Header | None:
    roles = {role: (int(name) - 1,) for role, name in chosen.items()}
    last = max(index for found in roles.values() for index in found)
    first = min(index for found in roles.values() for index in found)
    dated = roles.get("date") or roles.get("value_date")
    wide = [each for each in candidates if len(each.cells) > last]
    if not wide or first < 0 or dated is None:
        return None
    fits = [each for each in wide if is_date(each.cells[dated[0]])]
    if not fits:
        return None
    widths = Counter((each.delimiter, len(each.cells)) for each in fits)
    (delimiter, width), _ = widths.most_common(1)[0]
    row = next(each.row for each in fits if each.delimiter == delimiter)
    columns = Columns(tuple(str(number) for number in range(1, width + 1)), roles)
    return Header(0, row, delimiter, columns) if _is_header(columns, chosen) else None


def same_columns(one: Iterable[str], other: Iterable[str]) -> bool:
    """True for two headers that name the same columns in the same order."""
    return [_squeezed(name) for name in one] == [_squeezed(name) for name in other]
