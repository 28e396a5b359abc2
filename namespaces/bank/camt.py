"""CAMT.053 statements and CAMT.054 notifications, of any version and any bank.

An entry counts once however many details it has; those are kept as its text. `CdtDbtInd` alone
gives the direction: a reversal has its own already. It reads no CAMT.052 intraday reports.
"""

import codecs
import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple

from ..tables import dates
from ..tables.decided import tell_currency
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import decode
from .details import AMOUNT, Detail, detail_of, name_of, sum_of, text_of
from .elements import Broken, Element, read_elements
from .statement import Balance, Entry, Statement, StatementFile, named_by, tell_gap, total

_STATEMENTS = {"Stmt", "Ntfctn"}
_MESSAGES = re.compile(r"BkToCstmr\w+")
_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T.*|Z|[+-][0-9]{2}:?[0-9]{2})?")
_DECLARED = re.compile(rb"""encoding\s*=\s*["']((?:iso-8859|windows|cp)-?[0-9]{1,4}(?:-[0-9]{1,2})?)""", re.I)
_NOT_BOOKED = {"PDNG", "INFO", "FUTR"}
_MAX_DETAILS = 100_000
"""Details looked at in one entry; what is beyond them changes no amount."""
_YMD = dates.Dates(None)


class _Stated(NamedTuple):
    """A balance with its type and currency."""

    code: str
    currency: str
    balance: Balance


class _Ends(NamedTuple):
    opening: Balance | None
    closing: Balance | None


def read_camt(source: Source, conventions: Conventions) -> StatementFile:
    """Reads all statements and notifications of one CAMT file.

    Raises:
        SourceError: it holds neither, is no XML at all, or is hostile.
    """
    findings = Findings(source.file)
    text = decode(source, findings, _legacy(source.data))
    reading = _Reading(source.file, conventions, findings)
    broken = read_elements(text, source.file, reading.take)
    if broken is not None:
        reading.take_unclosed(broken)
    if not reading.statements:
        raise _nothing_in(source.file, reading.messages, broken)
    for statement in reading.statements:
        tell_gap(statement, findings)
    return StatementFile(source.file, tuple(reading.statements), findings.done())


def _legacy(data: bytes) -> str:
    """The encoding of bytes that are no UTF-8: the declared one if Python knows it, else cp1252."""
    found = _DECLARED.search(data[:1024])
    try:
        return codecs.lookup(found[1].decode()).name if found else "cp1252"
    except LookupError:
        return "cp1252"


def _nothing_in(file: str, messages: list[str], broken: Broken | None) -> SourceError:
    if broken is not None:
        what = f"is no XML ({broken.why}) and has no statement before that; export it again"
        return SourceError(file, what, row=broken.row)
    named = f"holds {messages[0]}" if messages else "is XML"
    return SourceError(
        file, f"{named} but no Stmt or Ntfctn; export a CAMT.053 statement or CAMT.054 notification"
    )


@dataclass(slots=True)
class _Reading:
    """Takes the elements of one file for entries and statements as they end."""

    file: str
    conventions: Conventions
    findings: Findings
    statements: list[Statement] = field(default_factory=list[Statement])
    messages: list[str] = field(default_factory=list[str])
    """Kinds of message in the file, as its tags name them."""
    _entries: list[Entry] = field(default_factory=list[Entry])
    """Of the statement that is open."""
    _details: list[Detail] = field(default_factory=list[Detail])
    """Of the entry that is open."""
    _listed: int = 0
    """Entries of the open statement, those that were left out as well."""

    def take(self, ended: Element, around: Element | None) -> bool:
        """Uses a finished element; True when nothing of it need be kept."""
        if ended.name == "TxDtls":
            within = around is not None and around.name == "NtryDtls"
            if within and len(self._details) < _MAX_DETAILS:
                self._details.append(detail_of(ended))
        elif ended.name == "Ntry":
            self._take_entry(ended, around)
        elif ended.name in _STATEMENTS:
            self._take_statement(ended)
        else:
            self._look_at(ended)
            return False
        return True

    def take_unclosed(self, broken: Broken) -> None:
        """Tells where the file breaks off, and keeps what was whole before that."""
        what = f"is no XML from here on ({broken.why}): it is cut off or damaged, so entries may be missing"
        self.findings.add("error", what, broken.row)
        for element in reversed(broken.unclosed):
            if element.name in {"Ntry", "Bal"}:
                what = f"the file breaks off inside this {element.name}, so it is left out"
                self.findings.add("error", what, element.row)
            elif element.name in _STATEMENTS:
                self._take_statement(element)

    def _look_at(self, ended: Element) -> None:
        if ended.name.endswith("Pgntn") and ended.value("LastPgInd") in {"false", "0"}:
            what = f"is page {ended.value('PgNb')} and not the last: the other pages are in other files"
            self.findings.add("warning", what, ended.row)
        elif _MESSAGES.fullmatch(ended.name) and len(self.messages) < 1:
            self.messages.append(ended.name)

    def _take_entry(self, element: Element, around: Element | None) -> None:
        details, self._details = self._details, []
        if around is None or around.name not in _STATEMENTS:
            self.findings.add("error", "an entry outside of any statement is left out", element.row)
            return
        self._listed += 1
        booked, problem = self._booked(element)
        amount = _signed(element)
        if booked is None or amount is None:
            what = f"entry {quote(_reference(element))} is left out: {problem or _no_amount(element)}"
            self.findings.add("error", what, element.row)
            return
        self._entries.append(self._entry(element, booked, amount, details))

    def _entry(
        self, element: Element, booked: datetime.date, amount: Decimal, details: Sequence[Detail]
    ) -> Entry:
        currency = _currency(element)
        self._tell_details(element, amount, currency, details)
        return Entry(
            id=_reference(element),
            booked=booked,
            amount=amount,
            currency=currency or None,
            row=element.row,
            value_date=_day(_written(element, "ValDt")),
            name=name_of(element, details),
            text=text_of(element, details),
            pending=self._pending(element),
        )

    def _booked(self, element: Element) -> tuple[datetime.date | None, str]:
        """The booking day, or what is wrong with it."""
        written, valued = _written(element, "BookgDt"), _written(element, "ValDt")
        if valued and _day(valued) is None:
            self.findings.add("warning", f"ValDt {quote(valued)} is no date: it is left out", element.row)
        if not written and _day(valued) is not None:
            self.findings.add("warning", "has no BookgDt: its value date is taken", element.row)
            return _day(valued), ""
        day = _day(written)
        return day, "" if day else f"BookgDt {quote(written)} is no date; it would be YYYY-MM-DD"

    def _pending(self, element: Element) -> bool:
        status = element.value("Sts") or element.value("Sts", "Cd") or element.value("Sts", "Prtry")
        if status not in {"BOOK", "PDNG"}:
            as_what = "not booked" if status in _NOT_BOOKED else "booked"
            what = f"Sts {quote(status)} is taken as {as_what}"
            self.findings.add("info" if status in _NOT_BOOKED else "warning", what, element.row)
        return status in _NOT_BOOKED

    def _tell_details(
        self, element: Element, amount: Decimal, currency: str, details: Sequence[Detail]
    ) -> None:
        stated = element.value("NtryDtls", "Btch", "NbOfTxs")
        batches = len(list(element.all("NtryDtls", "Btch")))
        if details and batches == 1 and stated.isdecimal() and int(stated[:18]) != len(details):
            what = f"is a batch of {quote(stated)} transactions, of which {len(details)} are in the file"
            self.findings.add("info", what, element.row)
        made = sum_of(details, currency, debit=amount < 0)
        if 1 < len(details) < _MAX_DETAILS and made is not None and made != amount:
            what = f"its details make {made}, the entry is {amount}: the entry counts"
            self.findings.add("warning", what, element.row)

    def _take_statement(self, element: Element) -> None:
        entries, self._entries = self._entries, []
        listed, self._listed = self._listed, 0
        account = element.value("Acct", "Id", "IBAN") or element.value("Acct", "Id", "Othr", "Id")
        if not account:
            self.findings.add("error", "has no account: it is named by its file", element.row)
            account = named_by(self.file)
        stated = list(self._balances(element))
        default = element.value("Acct", "Ccy").upper() or next((each.currency for each in stated), "")
        if not default:
            tell_currency(None, self.conventions, self.findings)
        default = default or self.conventions.currency or ""
        if any(entry.currency is None for entry in entries):
            what = f"entries without a currency are taken as {default or 'of none'}"
            self.findings.add("warning", what, element.row)
            entries = [each if each.currency else replace(each, currency=default or None) for each in entries]
        self._tell_summary(element, entries, listed)
        self._tell_duplicates(entries)
        self.statements += self._by_currency(element, account, default, entries, stated)
        if element.name == "Ntfctn":
            what = "is a notification, without balances: a statement of these days has the same entries"
            self.findings.add("info", what, element.row)

    def _by_currency(
        self, element: Element, account: str, default: str, entries: list[Entry], stated: list[_Stated]
    ) -> Iterator[Statement]:
        codes = dict.fromkeys(
            [*(each.currency for each in stated), *(each.currency or "" for each in entries)]
        )
        ordered = sorted(codes or [default], key=lambda code: code != default)
        if len(ordered) > 1:
            what = (
                f"has amounts in {', '.join(code or 'no currency' for code in ordered)}: they are kept apart"
            )
            self.findings.add("warning", what, element.row)
        for code in ordered:
            own = [each for each in stated if each.currency == code]
            found = self._ends(own, element) if element.name == "Stmt" else _Ends(None, None)
            yield Statement(
                account=account,
                currency=code or None,
                file=self.file,
                entries=tuple(each for each in entries if (each.currency or "") == code),
                opening=found.opening,
                closing=found.closing,
                start=_day(element.value("FrToDt", "FrDtTm") or element.value("FrToDt", "FrDt")),
                end=_day(element.value("FrToDt", "ToDtTm") or element.value("FrToDt", "ToDt")),
                notice=element.name == "Ntfctn",
            )

    def _balances(self, element: Element) -> Iterator[_Stated]:
        for part in element.all("Bal"):
            code = part.value("Tp", "CdOrPrtry", "Cd") or part.value("Tp", "CdOrPrtry", "Prtry")
            amount, written = _signed(part), _written(part, "Dt")
            if amount is None:
                what = f"balance {quote(code)} is left out: {_no_amount(part)}"
                self.findings.add("error", what, part.row)
                continue
            if _day(written) is None:
                self.findings.add("warning", f"Dt {quote(written)} of a balance is no date", part.row)
            currency = _currency(part) or element.value("Acct", "Ccy").upper()
            yield _Stated(code, currency, Balance(amount, _day(written), part.row))

    def _ends(self, stated: Sequence[_Stated], element: Element) -> _Ends:
        """The balances before and after the entries; interim ones stand in where those are missing."""
        opening = self._one("OPBD", stated, last=False)
        previous = self._one("PRCD", stated, last=False)
        if opening and previous and opening.amount != previous.amount:
            what = f"opens with {opening.amount}, yet the statement before it closed with {previous.amount}"
            self.findings.add("error", what, opening.row)
        found = _Ends(opening or previous, self._one("CLBD", stated, last=True))
        whole = self._with_interim(found, [each.balance for each in stated if each.code == "ITBD"])
        for name, codes, balance in (
            ("opening", "OPBD or PRCD", whole.opening),
            ("closing", "CLBD", whole.closing),
        ):
            if balance is None:
                self.findings.add("warning", f"has no {name} balance ({codes})", element.row)
        return whole

    def _with_interim(self, found: _Ends, interim: list[Balance]) -> _Ends:
        opening, closing = found
        spare = list(interim)
        if opening is None and spare and (closing or len(spare) > 1):
            opening = spare.pop(0)
            self.findings.add("info", "opens with an interim balance (ITBD)", opening.row)
        if closing is None and spare and opening:
            closing = spare[-1]
            self.findings.add("info", "closes with an interim balance (ITBD)", closing.row)
        return _Ends(opening, closing)

    def _one(self, code: str, stated: Sequence[_Stated], *, last: bool) -> Balance | None:
        """The first or last balance of a type by its date; of undated ones, as they stand."""
        found = [each.balance for each in stated if each.code == code]
        if all(each.date for each in found):
            found.sort(key=lambda each: each.date or datetime.date.min)
        if not found:
            return None
        chosen = found[-1 if last else 0]
        if len(found) > 1:
            what = f"has {len(found)} balances {code}: the {'latest' if last else 'earliest'} counts"
            self.findings.add("warning", what, chosen.row)
        return chosen

    def _tell_summary(self, element: Element, entries: list[Entry], listed: int) -> None:
        """Tells when the totals that the bank states are not those of the entries."""
        counted = element.value("TxsSummry", "TtlNtries", "NbOfNtries")
        if counted.isdecimal() and int(counted[:18]) != listed:
            what = f"holds {listed} entries, yet its summary counts {quote(counted)}"
            self.findings.add("error", what, element.row)
        if len({entry.currency for entry in entries}) > 1:
            return
        for tag, debit in (("TtlCdtNtries", False), ("TtlDbtNtries", True)):
            written = element.value("TxsSummry", tag, "Sum")
            own = [entry for entry in entries if (entry.amount < 0) == debit]
            made = {abs(total(own)), abs(total(each for each in own if not each.pending))}
            if AMOUNT.fullmatch(written) and Decimal(written) not in made:
                what = f"its {'debits' if debit else 'credits'} make {abs(total(own))}, "
                what += f"yet its summary says {written}"
                self.findings.add("error", what, element.row)

    def _tell_duplicates(self, entries: Iterable[Entry]) -> None:
        seen: dict[str, Entry] = {}
        for entry in entries:
            first = seen.setdefault(entry.id, entry)
            if entry.id and first is not entry:
                what = f"reference {quote(entry.id)} stands already in line {first.row}; both are kept"
                self.findings.add("warning", what, entry.row)


def _signed(element: Element) -> Decimal | None:
    """The amount with its direction; None when either is not there just once."""
    amounts = [each.text for each in element.all("Amt")]
    indicators = [each.text for each in element.all("CdtDbtInd")]
    if len(amounts) != 1 or indicators not in (["CRDT"], ["DBIT"]) or not AMOUNT.fullmatch(amounts[0]):
        return None
    amount = Decimal(amounts[0])
    return -amount if amount and indicators == ["DBIT"] else amount


def _no_amount(element: Element) -> str:
    written, indicator = element.value("Amt"), element.value("CdtDbtInd")
    return (
        f"Amt {quote(written)} with CdtDbtInd {quote(indicator)} is no amount;"
        " it would be one 12.34 with one of CRDT and DBIT"
    )


def _currency(element: Element) -> str:
    return next((each.currency for each in element.all("Amt")), "")


def _written(element: Element, name: str) -> str:
    return element.value(name, "Dt") or element.value(name, "DtTm")


def _day(written: str) -> datetime.date | None:
    """The day as written: a zone says where it was that day, it moves nothing."""
    found = _DAY.fullmatch(written)
    return _YMD.read(found[1]) if found else None


def _reference(element: Element) -> str:
    """The bank's own reference; the one of the entry may be the same for many."""
    return element.value("AcctSvcrRef") or element.value("NtryRef")
