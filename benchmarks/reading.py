"""How fast statement files are read, and how much memory that takes, by format and size.

Each file is generated and read in a process of its own. Memory is the most that the process held, less
what it held before reading; it is given as a multiple of the file's size.

    python benchmarks/reading.py --size 20 --size 200 --format csv
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from offing.namespaces.bank.formats import read
from offing.namespaces.tables.source import Conventions, SourceError, read_source

MB = 1_000_000
_DAYS = 28
_BLOCK = 1000
"""Entries written at a time."""


class Measured(NamedTuple):
    """One file read."""

    size: int
    """Of the file, in bytes."""
    seconds: float
    peak: int
    """Bytes of memory above what the process held before."""
    entries: int
    """0 for a file that was refused."""
    refused: str


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, action="append", help="MB of each file; 20 and 200 by default")
    parser.add_argument("--format", action="append", choices=sorted(FORMATS), help="all by default")
    given = parser.parse_args()
    print("| format | MB | s | MB/s | memory / size | entries |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in given.format or FORMATS:
        for size in given.size or (20, 200):
            print(_line(name, measured(name, size * MB)), flush=True)


def measured(name: str, size: int) -> Measured:
    """Generates a file of about that size and reads it in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made.{name}"
        FORMATS[name](path, size)
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            return pool.apply(_read, (path,))


def _read(path: Path) -> Measured:
    # Reading something small first loads what is loaded once.
    read(read_source(_small(path)), Conventions())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    entries, refused = 0, ""
    try:
        done = read(read_source(path), Conventions())
        entries = sum(len(each.entries) for each in done.statements)
    except SourceError as error:
        refused = str(error)
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measured(path.stat().st_size, seconds, (after - before) * 1024, entries, refused)


def _small(path: Path) -> Path:
    small = path.with_name(f"small{path.suffix}")
    FORMATS[path.suffix[1:]](small, 1000)
    return small


def _line(name: str, done: Measured) -> str:
    speed = done.size / MB / done.seconds
    said = f"{done.entries:,}" if not done.refused else f"refused: {done.refused[:60]}"
    share = done.peak / done.size
    return f"| {name} | {done.size / MB:.0f} | {done.seconds:.1f} | {speed:.1f} | {share:.1f} | {said} |"


class _Entry(NamedTuple):
    number: int
    day: int
    amount: Decimal
    text: str


def _entries(first: int) -> Iterator[_Entry]:
    for number in range(first, first + _BLOCK):
        amount = Decimal(number * 7919 % 1_000_000 - 500_000).scaleb(-2)
        day = number * _DAYS // 10**7 % _DAYS + 1
        text = (
            f"Payment {number} of client {number % 97}, invoice 2026-{number % 10_000:05}, thank you for it"
        )
        yield _Entry(number, day, amount, text)


def _write(path: Path, size: int, head: str, entry: Callable[[_Entry], str], tail: str) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        written, number = file.write(head), 1
        while written < size:
            written += file.write("".join(map(entry, _entries(number))))
            number += _BLOCK
        file.write(tail)


def make_csv(path: Path, size: int) -> None:
    """A CSV of one account."""

    def entry(each: _Entry) -> str:
        return f"2026-09-{each.day:02};{each.text};{each.amount};EUR;R{each.number}\r\n"

    _write(path, size, "Date;Description;Amount;Currency;Transaction ID\r\n", entry, "")


def make_qif(path: Path, size: int) -> None:
    """A QIF of one account."""

    def entry(each: _Entry) -> str:
        return f"D{each.day:02}.09.2026\nT{each.amount}\nP{each.text}\n^\n"

    _write(path, size, "!Type:Bank\n", entry, "")


def make_ofx(path: Path, size: int) -> None:
    """An OFX of one account."""

    def entry(each: _Entry) -> str:
        dated = f"<DTPOSTED>202609{each.day:02}120000<TRNAMT>{each.amount}"
        return f"<STMTTRN><TRNTYPE>OTHER{dated}<FITID>R{each.number}<NAME>{each.text}</STMTTRN>\n"

    head = "<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST>\n"
    _write(path, size, head, entry, "</BANKTRANLIST></STMTRS></OFX>\n")


def make_camt(path: Path, size: int) -> None:
    """A CAMT.053 of one account, a detail an entry."""

    def entry(each: _Entry) -> str:
        way = "DBIT" if each.amount < 0 else "CRDT"
        amount = f'<Amt Ccy="EUR">{abs(each.amount)}</Amt><CdtDbtInd>{way}</CdtDbtInd>'
        day = f"<Dt>2026-09-{each.day:02}</Dt>"
        dated = f"<BookgDt>{day}</BookgDt><ValDt>{day}</ValDt><AcctSvcrRef>R{each.number}</AcctSvcrRef>"
        said = f"<RmtInf><Ustrd>{each.text}</Ustrd></RmtInf>"
        detail = f"<NtryDtls><TxDtls>{amount}{said}</TxDtls></NtryDtls>"
        return f"<Ntry>{amount}<Sts>BOOK</Sts>{dated}{detail}</Ntry>\n"

    head = "<Document><BkToCstmrStmt><Stmt><Acct><Id><Othr><Id>1</Id></Othr></Id><Ccy>EUR</Ccy></Acct>\n"
    _write(path, size, head, entry, "</Stmt></BkToCstmrStmt></Document>\n")


def make_mt940(path: Path, size: int) -> None:
    """An MT940 of one statement."""

    def entry(each: _Entry) -> str:
        way = "D" if each.amount < 0 else "C"
        amount = f"{abs(each.amount):.2f}".replace(".", ",")
        dated = f"2609{each.day:02}09{each.day:02}"
        return f":61:{dated}{way}{amount}NTRFNONREF//R{each.number}\r\n:86:{each.text}\r\n"

    head = ":20:X\r\n:25:1\r\n:28C:1\r\n:60F:C260831EUR0,00\r\n"
    _write(path, size, head, entry, ":62F:C260930EUR0,00\r\n-\r\n")


def make_bai2(path: Path, size: int) -> None:
    """A BAI2 of one account."""

    def entry(each: _Entry) -> str:
        code = "475" if each.amount < 0 else "195"
        return f"16,{code},{int(abs(each.amount) * 100)},Z,R{each.number},,{each.text}/\n"

    head = "01,A,B,260930,0000,1,,,2/\n02,A,B,1,260930,,EUR,2/\n03,1,EUR,010,0,,,015,0,,/\n"
    _write(path, size, head, entry, "49,0,0/\n98,0,1,0/\n99,0,1,0/\n")


def make_xlsx(path: Path, size: int) -> None:
    """A workbook whose sheet is of that size unpacked; the file itself is a fraction of it."""

    def text(column: str, said: str) -> str:
        return f'<c r="{column}" t="inlineStr"><is><t>{said}</t></is></c>'

    def entry(each: _Entry) -> str:
        at = each.number + 1
        cells = f"{text(f'A{at}', f'2026-09-{each.day:02}')}{text(f'B{at}', each.text)}"
        return f'<row r="{at}">{cells}<c r="C{at}"><v>{each.amount}</v></c></row>'

    sheet = path.with_name("sheet.xml")
    names = (("A1", "Date"), ("B1", "Text"), ("C1", "Amount"))
    head = f'<row r="1">{"".join(text(*name) for name in names)}</row>'
    _write(sheet, size, f"<worksheet><sheetData>{head}", entry, "</sheetData></worksheet>")
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    book = f'<workbook xmlns:r="{kinds}"><sheets><sheet name="A" r:id="r1"/></sheets></workbook>'
    one = f'<Relationship Id="r1" Type="{kinds}/worksheet" Target="worksheets/sheet1.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/workbook.xml", book)
        made.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{one}</Relationships>")
        made.write(sheet, "xl/worksheets/sheet1.xml")


FORMATS: dict[str, Callable[[Path, int], None]] = {
    "csv": make_csv,
    "qif": make_qif,
    "ofx": make_ofx,
    "camt": make_camt,
    "mt940": make_mt940,
    "bai2": make_bai2,
    "xlsx": make_xlsx,
}

if __name__ == "__main__":
    main()
