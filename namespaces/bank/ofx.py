"""OFX 1 and 2, QFX and QBO: bank and card statements.

Tolerant where banks are careless: leaf tags need no closing, aggregates may lack theirs, several
lists and several accounts may stand in one file. It does not read investment statements.
"""

import datetime
import re
from dataclasses import dataclass, replace
from decimal import Decimal

from ..tables import dates
from ..tables.decided import tell_decided
from ..tables.numbers import Cell, Mark, Numbers, decide, weigh
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import decode
from ..tables.words import balance_of
from .aggregates import Aggregate, RawStatement, statements_in
from .statement import Balance, Entry, Statement, StatementFile, named_by, tell_gap
from .tokens import tags

_ACCOUNTS = {"BANKACCTFROM", "CCACCTFROM"}
_CLOCK = re.compile(r"[0-9]{8}(?:([0-9]{2})([0-9]{2})([0-9]{2})?)?(?:[.\[].*)?")
_SIGNS = {"DEBIT": True, "CHECK": True, "FEE": True, "CREDIT": False, "DEP": False}
"""Whether entries of a type have a minus."""
_YMD = dates.Dates(None)


def read_ofx(source: Source, conventions: Conventions) -> StatementFile:
    """Reads all statements of one OFX file.

    Raises:
        SourceError: it holds no bank or card statement, or its amounts have two decimal marks.
    """
    findings = Findings(source.file)
    text = decode(source, findings, _legacy(source.data))
    raws = statements_in(tags(text), findings)
    if not raws:
        raise SourceError(
            source.file,
            "has no STMTRS or CCSTMTRS, so no bank or card statement; export one from the bank",
        )
    numbers = _numbers(raws, conventions, findings)
    read = [_Reading(source.file, numbers, findings, raw) for raw in raws]
    statements = tuple(statement for each in read for statement in each.statements())
    for statement in statements:
        tell_gap(statement, findings)
    return StatementFile(source.file, statements, findings.done())


def _legacy(data: bytes) -> str:
    """The encoding of bytes that are no UTF-8: the header's if Python knows it, else cp1252."""
    head = data[:1024].decode("latin-1").upper()
    found = re.search(r"CHARSET:\s*(?:ISO-?)?([0-9]{4}(?:-[0-9]{1,2})?)", head)
    if found and found[1].startswith("8859"):
        return "latin-1" if found[1] in {"8859", "8859-1"} else f"iso{found[1]}"
    known = {"1250", "1251", "1252", "1253", "1254", "1257"}
    return f"cp{found[1]}" if found and found[1] in known else "cp1252"


def _numbers(raws: list[RawStatement], conventions: Conventions, findings: Findings) -> Numbers:
    """The decimal mark; where nothing shows it, OFX says that there are no thousands marks."""
    texts = [
        Cell(part.row, part.fields[name])
        for raw in raws
        for part in raw.parts
        for name in ("TRNAMT", "BALAMT", "VALUE")
        if name in part.fields
    ]
    evidence = weigh(texts)
    if evidence.proofs or evidence.undecided is None or conventions.decimal:
        numbers = decide(texts, findings.file, conventions)
        tell_decided(dates.Dates(None), numbers, conventions, findings)
        return numbers
    mark: Mark = "," if "," in evidence.undecided.text else "."
    what = f"{quote(evidence.undecided.text)} is read with the decimal mark {mark!r}, as OFX has it"
    findings.add("warning", f"{what}; if it is a thousands mark, set decimal=", evidence.undecided.row)
    return Numbers(mark)


@dataclass(slots=True)
class _Reading:
    """Turns the tags of one statement into entries and balances."""

    file: str
    numbers: Numbers
    findings: Findings
    raw: RawStatement

    def statements(self) -> list[Statement]:
        """The statement, and one more for each currency that single entries are in."""
        main = self._statement()
        foreign = sorted({entry.currency or "" for entry in main.entries} - {main.currency or ""})
        if not foreign:
            return [main]
        what = f"entries in {', '.join(foreign)} are kept apart from those in {main.currency}"
        self.findings.add("warning", what, self.raw.root.row)
        own = tuple(entry for entry in main.entries if entry.currency == main.currency)
        split = [
            Statement(main.account, code, self.file, tuple(e for e in main.entries if e.currency == code))
            for code in foreign
        ]
        return [replace(main, entries=own), *split]

    def _statement(self) -> Statement:
        currency = self.raw.root.fields.get("CURDEF", "").upper() or None
        if currency is None:
            self.findings.add("error", "has no CURDEF: its currency is unknown", self.raw.root.row)
        listed = list(self.raw.named("STMTTRN", "STMTTRNP"))
        entries = tuple(entry for part in listed if (entry := self._entry(part, currency)))
        self._tell_duplicates(entries)
        self._tell_signs(listed)
        period = next(self.raw.named("BANKTRANLIST"), None)
        bounds = {} if period is None else period.fields
        return Statement(
            account=self._account(),
            currency=currency,
            file=self.file,
            entries=entries,
            opening=self._opening(),
            closing=self._closing(),
            start=self._day(bounds.get("DTSTART", "")),
            end=self._day(bounds.get("DTEND", "")),
        )

    def _account(self) -> str:
        for part in self.raw.named(*_ACCOUNTS):
            if part.fields.get("ACCTID"):
                return part.fields["ACCTID"]
        self.findings.add("error", "has no ACCTID: the account is named by its file", self.raw.root.row)
        return named_by(self.file)

    def _entry(self, part: Aggregate, currency: str | None) -> Entry | None:
        given = part.fields
        posted = given.get("DTPOSTED") or given.get("DTTRAN") or given.get("DTUSER", "")
        booked = self._day(posted)
        amount = self.numbers.read(given.get("TRNAMT", ""))
        problem = self._problem(part, booked, amount)
        if problem or booked is None or amount is None:
            what = f"entry {quote(given.get('FITID', ''))} is left out: {problem}"
            self.findings.add("error", what, part.row)
            return None
        if not given.get("FITID"):
            self.findings.add("info", "an entry has no FITID: it is named by its line", part.row)
        self._tell_time(posted, part.row)
        return Entry(
            id=given.get("FITID", ""),
            booked=booked,
            amount=amount,
            currency=given.get("CURSYM", "").upper() or currency,
            row=part.row,
            value_date=self._day(given.get("DTAVAIL", "")),
            name=given.get("NAME", ""),
            text=_text(given),
            pending=part.name == "STMTTRNP",
        )

    def _problem(self, part: Aggregate, booked: datetime.date | None, amount: Decimal | None) -> str | None:
        given = part.fields
        if part.repeated & {"TRNAMT", "FITID", "DTPOSTED"}:
            return "a tag stands in it twice, so two entries may have run together"
        if booked is None:
            return f"DTPOSTED {quote(given.get('DTPOSTED', ''))} is no date; it would be YYYYMMDD"
        if amount is None:
            return f"TRNAMT {quote(given.get('TRNAMT', ''))} is no amount; it would be -12.34"
        return None

    def _tell_duplicates(self, entries: tuple[Entry, ...]) -> None:
        seen: dict[str, Entry] = {}
        for entry in entries:
            first = seen.setdefault(entry.id, entry)
            if entry.id and first is not entry:
                what = f"FITID {quote(entry.id)} stands already in line {first.row}; both are kept"
                self.findings.add("warning", what, entry.row)

    def _tell_signs(self, listed: list[Aggregate]) -> None:
        """Tells when type and sign contradict each other; the sign is what OFX goes by."""
        wrong = [
            part
            for part in listed
            if (given := part.fields.get("TRNAMT", "").strip()).strip("+-0.,")
            and _SIGNS.get(part.fields.get("TRNTYPE", "").upper(), given[:1] == "-") != (given[:1] == "-")
        ]
        if wrong:
            what = f"{len(wrong)} entries have a type that contradicts their sign; the sign counts"
            self.findings.add("warning", what, wrong[0].row)

    def _closing(self) -> Balance | None:
        found = [self._balance(part, "BALAMT") for part in self.raw.named("LEDGERBAL")]
        known = [balance for balance in found if balance is not None]
        if len(known) > 1:
            self.findings.add("warning", "has several LEDGERBAL: the last counts", known[-1].row)
        if not known:
            self.findings.add("warning", "has no LEDGERBAL: no closing balance", self.raw.root.row)
        return known[-1] if known else None

    def _opening(self) -> Balance | None:
        named = (part for part in self.raw.named("BAL") if balance_of(_label(part)) == "opening")
        return next((self._balance(part, "VALUE") for part in named), None)

    def _balance(self, part: Aggregate, name: str) -> Balance | None:
        written, as_of = part.fields.get(name, ""), part.fields.get("DTASOF", "")
        amount, date = self.numbers.read(written), self._day(as_of)
        if amount is None:
            self.findings.add("error", f"{name} {quote(written)} is no amount", part.row)
            return None
        if date is None:
            self.findings.add("warning", f"DTASOF {quote(as_of)} is no date", part.row)
        self._tell_time(as_of, part.row)
        return Balance(amount, date, part.row)

    def _day(self, written: str) -> datetime.date | None:
        """The day as written: a zone says where it was that day, it moves nothing."""
        digits = written[:8] if written[:8].isdecimal() else written[:10]
        return _YMD.read(digits) if digits[:4].isdecimal() else None

    def _tell_time(self, written: str, row: int) -> None:
        found = _CLOCK.fullmatch(written)
        clock = [int(part) for part in found.groups() if part] if found else []
        if any(part >= limit for part, limit in zip(clock, (24, 60, 61), strict=False)):
            what = f"{quote(written)} has an impossible time; its day is taken"
            self.findings.add("info", what, row)


def _label(part: Aggregate) -> str:
    return part.fields.get("NAME") or part.fields.get("DESC", "")


def _text(given: dict[str, str]) -> str:
    """The memo, and a cheque's number unless name or memo have it already."""
    number = given.get("CHECKNUM", "")
    said = f"{given.get('NAME', '')} {given.get('MEMO', '')}"
    parts = [given.get("MEMO", "")]
    if number.strip("0") and number not in said:
        parts.append(f"cheque {number}")
    return " ".join(part for part in parts if part)
