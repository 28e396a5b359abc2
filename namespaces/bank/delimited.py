"""Statements as CSV or XLSX: any bank's, by the words of its header.

What a file leaves open (03/04, 1,234) is refused with both readings. Rows that cannot be read are
left out and told, each by its line. Columns whose names are not known, or that have none, have to be
said. Each sheet of a workbook that has entries is a statement.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ..tables.identity import account_above
from ..tables.layout import BalanceRow, Layout, Reading, nothing_read, read_layout
from ..tables.opening import open_tables
from ..tables.source import Conventions, Findings, Source
from ..tables.table import Row, Table
from ..tables.words import COMMON, Vocabulary, is_pending
from .running import Step, ends
from .statement import Balance, Entry, Statement, StatementFile, named_by, tell_gap

WORDS: Vocabulary = {
    **COMMON,
    "value_date": (
        *("value date", "valutadatum", "wertstellung", "wertstellungsdatum", "valuta", "wert"),
        *(
            "date de valeur",
            "date valeur",
            "fecha valor",
            "f valor",
            "fecha de valor",
            "rentedatum",
        ),
    ),
    "name": (
        *("payee", "name", "counterparty", "counterparty name", "beneficiary", "merchant"),
        *(
            "name zahlungsbeteiligter",
            "beguenstigter zahlungspflichtiger",
            "auftraggeber empfanger",
        ),
        *("begunstigter zahlungspflichtiger", "empfanger", "zahlungsempfanger in", "partner"),
        *("tegenrekeninghouder", "naam tegenpartij", "nombre", "beneficiario", "beneficiaire"),
    ),
    "status": ("status", "state", "info", "etat", "estado", "statut"),
    "account": (
        *("account", "account number", "iban", "auftragskonto", "iban auftragskonto"),
        *("iban kontoinhaber", "konto", "kontonummer", "rekeningnummer", "rekening", "compte"),
        *("numero de compte", "cuenta", "produit", "product", "account id", "iban account holder"),
    ),
    "id": (
        *("fitid", "transaction id", "id de transaccion", "n de transaction", "operation number"),
        *("transaktions id", "transactie id", "bank reference", "id"),
    ),
}
_MAX_TEXT = 2000


class _Key(NamedTuple):
    account: str
    currency: str | None


class _Taken(NamedTuple):
    key: _Key
    entry: Entry
    balance: Decimal | None


def read_delimited(source: Source, conventions: Conventions) -> StatementFile:
    """Reads one CSV or XLSX statement.

    Raises:
        SourceError: it is neither text nor a workbook, or has no rows that can be read.
        UndecidedError: two readings of it fit, or its header is not known.
    """
    findings = Findings(source.file)
    statements: list[Statement] = []
    for table in open_tables(source, WORDS, conventions, findings):
        reader = _Rows(table, read_layout(table, conventions, 1, findings), findings)
        taken = list(reader.entries())
        if not taken and not reader.balances:
            raise nothing_read(table)
        balances = [*reader.layout.preamble(), *reader.balances]
        statements += _statements(taken, balances, reader, findings)
    for statement in statements:
        tell_gap(statement, findings)
    return StatementFile(source.file, tuple(statements), findings.done())


@dataclass(slots=True)
class _Rows:
    """Takes the rows of one table for entries, balances, or neither."""

    table: Table
    layout: Layout
    findings: Findings
    balances: list[BalanceRow]
    keys: dict[_Key, _Key]
    """One object for each account and currency, since all rows hold theirs."""

    def __init__(self, table: Table, layout: Layout, findings: Findings) -> None:
        self.table, self.layout, self.findings = table, layout, findings
        self.balances, self.keys = [], {}

    def entries(self) -> Iterator[_Taken]:
        """The entries in the order of the file; balances are put aside, the rest is told."""
        default = self.account()
        for row in self.table.rows:
            if (balance := self.layout.balance_row(row)) is not None:
                self.balances.append(balance)
                self.findings.add("info", f"states the {balance.kind} and is no entry", row.number)
                continue
            reading = self.layout.take(row, self.findings)
            if reading is not None:
                yield self._taken(row, reading, default)

    def account(self) -> str:
        """The account that is named above the header, else the file's name."""
        return account_above(self.table.preamble) or named_by(self.table.file)

    def _taken(self, row: Row, reading: Reading, default: str) -> _Taken:
        columns, fields, cells = self.table.columns, reading.fields, reading.cells
        if not fields.amount:
            self.findings.add("info", "has the amount 0: a notice rather than a movement", row.number)
        entry = Entry(
            id=columns.cell(cells, "id")[:200],
            booked=fields.date,
            amount=fields.amount,
            currency=fields.currency,
            row=row.number,
            value_date=fields.value_date,
            name=columns.cell(cells, "name")[:_MAX_TEXT],
            text=self.table.place(columns.joined(cells, "text")[:_MAX_TEXT]),
            pending=is_pending(columns.cell(cells, "status")),
        )
        account = " ".join(columns.cell(cells, "account").split())
        key = _Key(account or default, fields.currency)
        return _Taken(self.keys.setdefault(key, key), entry, fields.balance)


def _statements(
    taken: Sequence[_Taken], balances: Sequence[BalanceRow], reader: _Rows, findings: Findings
) -> Iterator[Statement]:
    parts: dict[_Key, list[_Taken]] = {}
    for each in taken:
        parts.setdefault(each.key, []).append(each)
    if not parts:
        parts[_Key(reader.account(), reader.layout.currency)] = []
    if any(key.currency is None for key in parts):
        findings.add("warning", "names no currency: its amounts match only others without one")
    if len(parts) > 1 and balances:
        findings.add("warning", f"states balances but holds {len(parts)} accounts: not used")
    for key, rows in parts.items():
        stated = balances if len(parts) == 1 else ()
        booked = (each for each in rows if not each.entry.pending)
        steps = [Step(each.entry, each.balance) for each in booked if each.balance is not None]
        derived = ends(steps, findings)
        yield Statement(
            account=key.account,
            currency=key.currency,
            file=reader.table.file,
            entries=tuple(each.entry for each in rows),
            opening=_stated(stated, "opening") or (derived.opening if derived else None),
            closing=_stated(stated, "closing") or (derived.closing if derived else None),
        )


def _stated(balances: Iterable[BalanceRow], kind: str) -> Balance | None:
    found = [each for each in balances if each.kind == kind and each.amount is not None]
    last = found[-1] if found else None
    return None if last is None or last.amount is None else Balance(last.amount, last.date, last.row)
