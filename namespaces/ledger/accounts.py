"""The accounts of all ledger files together, with an id for each line and balance."""

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ..errors import NamespaceError
from ..records import Ids, amount_of, by_tool, id_part
from ..tables.source import Finding
from ..tool import Record
from .across_files import not_given, not_opened
from .books import BookFile, Format, LedgerFile, Line, StatedBalance
from .overlaps import once
from .settling import settle

_MAX_TEXT = 300
_TOLD = 50
_EXPORTS: frozenset[Format] = frozenset({"csv", "xlsx", "sql"})
"""Formats that may give a part of a journal's lines; of all others the reader tells what does not balance."""
_MANY = 10
"""From so many unbalanced journals on, most of the file, it is the file and not the journals."""


@dataclass(frozen=True, slots=True)
class Posting:
    """One line with the record it is cited by."""

    line: Line
    record: Record


@dataclass(frozen=True, slots=True)
class Account:
    """One account of the books in one currency."""

    label: str
    """What it is called in arguments: its name, with the currency where that is needed."""
    name: str
    currency: str | None
    postings: tuple[Posting, ...]
    """By date, then as the files have them."""
    opening: Record | None
    """As the books state it; None when they state none, and 0 is meant."""
    closing: Record | None
    """As the books state it, for checking; None when they state none."""

    def between(self, start: datetime.date | None, end: datetime.date | None) -> list[Record]:
        """Records of the lines from one day to another, both included."""
        low, high = start or datetime.date.min, end or datetime.date.max
        return [each.record for each in self.postings if low <= each.line.date <= high]

    def balance_on(self, day: datetime.date) -> Record | None:
        """What it held at the end of a day; None before the books begin.

        That is the opening balance, or 0 where the books state none, and all lines up to then.
        """
        lines = self.between(None, day)
        opening = self.opening
        if opening is not None and not lines:
            eve = (opening.date or day) - datetime.timedelta(1)
            return opening if day >= eve else None
        start = amount_of([opening] if opening else [])
        how = "the opening balance" if opening else "no opening balance is stated, so 0,"
        return Record(
            id=f"ledger:balance/{id_part(self.label)}/{day}/computed",
            amount=start + amount_of(lines),
            currency=self.currency,
            date=day,
            text=f"balance of {self.label} at the end of {day}: {how} and {len(lines)} lines",
            derivation=by_tool("ledger__get_balance", {"account": self.label, "date": str(day)}),
        )


@dataclass(frozen=True, slots=True)
class Books:
    """All that the files of one ledger namespace hold."""

    accounts: tuple[Account, ...]
    findings: tuple[Finding, ...]
    files: tuple[BookFile, ...]
    """Those that were read, by name."""
    declared: tuple[str, ...] = ()
    """Names of the accounts that the files declare, also of those without lines."""

    @property
    def without_lines(self) -> tuple[str, ...]:
        """Accounts that the files declare and that have neither lines nor balances."""
        used = {each.name for each in self.accounts}
        return tuple(name for name in self.declared if name not in used)

    def find(self, label: str) -> Account:
        """The account of that name, code, or both; of a tree also by the end of its name.

        Raises:
            NamespaceError: there is none, or several; the message names those there are.
        """
        wanted = " ".join(label.split()).casefold()
        for fits in (_is, _begins, _ends, _holds):
            found = [each for each in self.accounts if fits(each.label.casefold(), wanted)]
            if len(found) == 1:
                return found[0]
        there_are = ", ".join(repr(each.label) for each in self.accounts[:50]) or "none"
        raise NamespaceError(f"there is no one account {label!r}; there are: {there_are}")

    def journal(self, number: str) -> list[Posting]:
        """All lines of a journal, in the order of the files.

        Raises:
            NamespaceError: no line has that number.
        """
        found = [each for of in self.accounts for each in of.postings if each.line.journal == number]
        if not found:
            raise NamespaceError(f"there is no journal {number!r}; get_gl_detail shows the numbers there are")
        return sorted(found, key=lambda each: (each.line.file, each.line.row))


def gather(files: Iterable[LedgerFile], failed: Iterable[Finding] = ()) -> Books:
    """Puts the lines of all files together by account and currency.

    The order of the files changes nothing. A line that two exports of the books have is counted once; see
    `overlaps`.
    """
    ordered = sorted(files, key=lambda each: each.file)
    findings = [finding for each in ordered for finding in each.findings]
    single = once(ordered)
    findings += single.findings
    lines = [line for own in single.lines.values() for line in own]
    exports = [each.file for each in ordered if each.format in _EXPORTS]
    findings += _unbalanced([line for file in exports for line in single.lines[file]])
    findings += [*not_given(ordered), *not_opened(ordered)]
    settled = settle(
        lines,
        [assertion for each in ordered for assertion in each.assertions],
        [padding for each in ordered for padding in each.paddings],
    )
    lines += settled.padding
    findings += settled.findings
    stated = [balance for each in ordered for balance in each.balances]
    parts: dict[tuple[str, str | None], list[Posting]] = {}
    for each in stated:
        parts.setdefault((each.account, each.currency), [])
    for posting in _postings(lines):
        parts.setdefault((posting.line.account, posting.line.currency), []).append(posting)
    names = Counter(name for name, _ in parts)
    accounts: list[Account] = []
    for (name, currency), postings in parts.items():
        label = f"{name} {currency or ''}".strip() if names[name] > 1 else name
        own = [each for each in stated if (each.account, each.currency) == (name, currency)]
        account = _make(label, own, sorted(postings, key=lambda each: each.line.date), currency)
        findings += _gap(account)
        accounts.append(account)
    named = tuple(BookFile(each.file, each.format, each.currency, each.symbols) for each in ordered)
    declared = tuple(sorted({name for each in ordered for name in each.accounts}))
    return Books(tuple(accounts), (*failed, *findings), named, declared)


def _make(
    label: str, stated: Sequence[StatedBalance], postings: Sequence[Posting], currency: str | None
) -> Account:
    name = stated[0].account if stated else postings[0].line.account
    ends: dict[str, Record] = {}
    for kind in ("opening", "closing"):
        found = [each for each in stated if each.kind == kind]
        if found:
            # Of two files' balances the first opening and the last closing frame all lines.
            ends[kind] = _balance(label, found[0] if kind == "opening" else found[-1])
    return Account(label, name, currency, tuple(postings), ends.get("opening"), ends.get("closing"))


def _balance(label: str, stated: StatedBalance) -> Record:
    return Record(
        id=f"ledger:balance/{id_part(label)}/{stated.date or 'undated'}/{stated.kind}",
        amount=stated.amount,
        currency=stated.currency,
        date=stated.date,
        text=f"{stated.kind} balance of {label}",
        file=stated.file,
        row=stated.row,
    )


def _postings(lines: Iterable[Line]) -> Iterable[Posting]:
    ids = Ids()
    numbers: Counter[tuple[str, str]] = Counter()
    for line in lines:
        numbers[line.file, line.journal] += 1
        number = numbers[line.file, line.journal]
        name = f"{id_part(line.journal)}-{number}" if line.journal else f"L{line.row}"
        yield Posting(
            line,
            Record(
                id=ids.give(f"ledger:line/{line.date}/{name}"),
                amount=line.amount,
                currency=line.currency,
                date=line.date,
                text=line.text[:_MAX_TEXT],
                file=line.file,
                row=line.row,
            ),
        )


def _unbalanced(lines: Sequence[Line]) -> list[Finding]:
    """Journals that do not sum to 0, unless the files hold one account only: it never does."""
    if len({line.account for line in lines}) <= 1:
        return []
    sums: dict[tuple[str, str | None], Decimal] = {}
    first: dict[tuple[str, str | None], Line] = {}
    for line in lines:
        if line.journal:
            key = (line.journal, line.counts.currency)
            sums[key] = sums.get(key, Decimal(0)) + line.counts.amount
            first.setdefault(key, line)
    wrong = [key for key, amount in sums.items() if amount]
    if len(wrong) >= _MANY and len(wrong) * 2 > len(sums):
        line = first[wrong[0]]
        what = f"{len(wrong)} of {len(sums)} journals do not sum to 0: lines of them are elsewhere"
        return [Finding(what, line.file, line.row)]
    return [
        Finding(
            f"journal {key[0]} does not balance: its lines sum to {sums[key]}",
            first[key].file,
            first[key].row,
            "error",
        )
        for key in wrong[:_TOLD]
    ]


def _gap(account: Account) -> list[Finding]:
    if account.closing is None or account.closing.amount is None:
        return []
    opening = [account.opening] if account.opening else []
    reached = amount_of([*opening, *(each.record for each in account.postings)])
    if reached == account.closing.amount:
        return []
    stated = account.closing.amount
    what = f"{account.label} does not tie: its lines make {reached}, stated is {stated}"
    return [Finding(what, account.closing.file or "", account.closing.row, "error")]


def _is(label: str, wanted: str) -> bool:
    return label == wanted


def _begins(label: str, wanted: str) -> bool:
    """The code alone: `1200` for `1200 Bank`, and not for `12001 Cash`."""
    return label.startswith(f"{wanted} ")


def _ends(label: str, wanted: str) -> bool:
    """The last names alone: `bank:checking` for `Assets:Bank:Checking`."""
    return label.endswith(f":{wanted}")


def _holds(label: str, wanted: str) -> bool:
    return len(wanted) > 2 and wanted in label  # noqa: PLR2004  (less says nothing)
