"""Journals of hledger and ledger: their entries, made into lines.

Files that are included are not opened, forecasts (`~`) are no entries, and expressions are not computed:
each is told. Prices of the market (`P`) change no balance.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from operator import attrgetter

from ..bank.statement import Often
from ..tables.source import Conventions, Findings, Source, SourceError
from ..tables.text import decode, lines_of
from .automated import MAX_ADDED, added
from .books import Assertion, LedgerFile, Line, Weight
from .commodities import Commodities
from .completion import Completion, Entry, Malformed, Posting, Rules
from .journal_amounts import Amounts
from .journal_blocks import blocks
from .journal_dates import read_date
from .journal_directives import Dialect, Directives, RawEntry
from .journal_postings import Price, RawPosting

_RULES = Rules(exchange=True, loosest=False, rounds=False)


def read_hledger(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads one journal of hledger.

    Raises:
        SourceError: it is no text, has no entry, or its numbers contradict each other.
        UndecidedError: two readings of its numbers fit.
    """
    return _read(source, conventions, "hledger")


def read_ledger(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads one journal of ledger (ledger-cli).

    Raises:
        SourceError: it is no text, has no entry, or its numbers contradict each other.
        UndecidedError: two readings of its numbers fit.
    """
    return _read(source, conventions, "ledger")


def _read(source: Source, conventions: Conventions, dialect: Dialect) -> LedgerFile:
    findings = Findings(source.file)
    commodities = Commodities(conventions, findings)
    amounts = Amounts(source.file, conventions, commodities)
    directives = Directives(source.file, dialect, amounts, findings)
    for block in blocks(lines_of(decode(source, findings), source.file), findings):
        directives.take(block)
    if not directives.known:
        raise SourceError(source.file, "holds no entry; one is: 2026-09-14 Payee, then indented lines")
    amounts.decide(findings)
    journal = _Journal(source.file, directives, amounts, findings)
    lines = journal.lines()
    directives.done()
    journal.often.tell()
    commodities.tell()
    return LedgerFile(
        file=source.file,
        format=dialect,
        lines=tuple(lines),
        balances=(),
        findings=findings.done(),
        accounts=tuple(sorted(directives.accounts)),
        assertions=tuple(journal.assertions),
        includes=tuple(directives.includes),
        symbols=amounts.symbols(),
    )


class _Journal:
    """Makes entries of raw ones, one after the other: an amount may be left to what came before."""

    def __init__(self, file: str, directives: Directives, amounts: Amounts, findings: Findings) -> None:
        self._file, self._directives, self._amounts, self._findings = file, directives, amounts, findings
        self.often = Often(findings)
        self.assertions: list[Assertion] = []
        self._completion = Completion(file, _RULES, findings, self.often)
        self._room = MAX_ADDED
        self._held: dict[tuple[str, str | None], Decimal] = {}

    def lines(self) -> list[Line]:
        """All lines, as the file has them: hledger counts by date, ledger as they stand."""
        entries = self._directives.entries
        if self._directives.dialect == "hledger":
            entries = sorted(entries, key=attrgetter("date"))
        made = [line for raw in entries for line in self._entry(raw)]
        return sorted(made, key=attrgetter("row"))

    def _entry(self, raw: RawEntry) -> Iterator[Line]:
        entry = Entry(raw.date, raw.row, f"{self._file}:{raw.row}", raw.text)
        for each in raw.postings:
            try:
                entry.postings.append(self._posting(each, entry))
            except Malformed as error:
                self._findings.add("error", f"{error}: the line is not read", each.row)
        lines = self._completion.lines(entry)
        for line in [*lines, *self._added(entry, lines)]:
            key = (line.account, line.currency)
            self._held[key] = self._held.get(key, Decimal(0)) + line.amount
            yield line

    def _added(self, entry: Entry, lines: Iterable[Line]) -> Iterator[Line]:
        """What rules add: of ledger only, since hledger applies them when it is told to."""
        filled = [_as_posting(line) for line in lines if line.origin != "virtual"]
        whole = Entry(entry.date, entry.row, entry.number, entry.text, filled)
        try:
            for more in added(whole, self._directives.rules, self._amounts, self._room):
                self._room -= len(more.postings)
                yield from self._completion.lines(more)
        except Malformed as error:
            self._findings.add("error", f"a rule cannot be applied: {error}", entry.row)

    def _posting(self, raw: RawPosting, entry: Entry) -> Posting:
        if raw.amount is not None and raw.amount.times:
            raise Malformed("a factor (*) stands for an amount in rules only")
        amount = self._amounts.read(raw.amount) if raw.amount else None
        posting = Posting(raw.account, raw.row, amount, part=raw.part, text=raw.text)
        if raw.date:
            posting.date = read_date(raw.date, entry.date.year)
        if raw.stated is not None:
            self._state(raw, posting, entry)
        price = self._price(raw)
        if price is not None and price is raw.lot:
            self.often.add("info", "the cost of the lot, in braces, is what counts", raw.row)
        if price is not None and posting.amount is not None:
            posting.weight = self._weigh(posting.amount, price)
        return posting

    def _price(self, raw: RawPosting) -> Price | None:
        """What counts: for hledger what is paid, for ledger what the lot did cost; else the other one."""
        first, second = raw.price, raw.lot
        if self._directives.dialect == "ledger":
            first, second = second, first
        return first or second

    def _weigh(self, amount: Weight, price: Price) -> Weight:
        cost = self._amounts.read(price.amount)
        if price.whole:
            return Weight(abs(cost.amount).copy_sign(amount.amount), cost.currency)
        return Weight(cost.amount * amount.amount, cost.currency)

    def _state(self, raw: RawPosting, posting: Posting, entry: Entry) -> None:
        if raw.stated is None:
            return
        stated = self._amounts.read(raw.stated.amount)
        if posting.amount is None:
            self._assign(posting, stated, entry)
        self.assertions.append(
            Assertion(
                account=raw.account,
                amount=stated.amount,
                currency=stated.currency,
                date=posting.date or entry.date,
                early=False,
                subaccounts=raw.stated.subaccounts,
                alone=raw.stated.alone,
                tolerance=Decimal(0),
                file=self._file,
                row=raw.row,
                by_date=self._directives.dialect == "hledger",
            )
        )

    def _assign(self, posting: Posting, stated: Weight, entry: Entry) -> None:
        """The amount is what makes the account hold what is stated."""
        held = self._held.get((posting.account, stated.currency), Decimal(0))
        for each in entry.postings:
            if each.account == posting.account and each.amount and each.amount.currency == stated.currency:
                held += each.amount.amount
        posting.amount = Weight(stated.amount - held, stated.currency)
        what = "the amount is not written: it is what makes the account hold what is stated, by this file"
        self.often.add("info", what, posting.row)


def _as_posting(line: Line) -> Posting:
    return Posting(line.account, line.row, Weight(line.amount, line.currency), date=line.date)
