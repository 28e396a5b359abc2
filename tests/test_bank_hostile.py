"""What is damaged or made to hurt is read with findings or refused, and the work grows with the file."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.accounts import gather
from offing.namespaces.bank.formats import identify, read
from offing.namespaces.tables.source import MAX_FILE_BYTES, Conventions, Source, SourceError, read_source
from workbooks import sheet_part, with_parts, workbook

CSV = (
    b"Account;Date;Text;Amount;Balance;Currency\n"
    b'DE1;14.09.2026;"a;b";-1.234,50;98,50;EUR\nDE1;15.09.2026;x;1,5;100;EUR\n'
)
QIF = (
    b"!Account\nNGiro\n^\n!Type:Bank\nD14/09'26\nT-1,234.50\nPRent\nSCat\nE m\n$-1,234.50\n^\n"
    b"D15.09.2026\nT1.50\n^\n"
)
OFX = (
    b"OFXHEADER:100\nCHARSET:1252\n\n<OFX><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>1</BANKACCTFROM>"
    b"<BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260914<TRNAMT>-1.50<FITID>7<NAME>A &amp; B"
    b"<MEMO><![CDATA[x]]></STMTTRN></BANKTRANLIST>"
    b"<LEDGERBAL><BALAMT>9.00<DTASOF>20260930</LEDGERBAL></STMTRS></OFX>"
)
CAMT = (
    b'<?xml version="1.0" encoding="UTF-8"?><Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id>'
    b"<Ccy>EUR</Ccy></Acct><Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy='EUR'>1.00</Amt>"
    b"<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-09-01</Dt></Dt></Bal><Ntry><Amt Ccy='EUR'>2.50</Amt>"
    b"<CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-09-14</Dt></BookgDt>"
    b"<AcctSvcrRef>R1</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>x</Ustrd></RmtInf></TxDtls></NtryDtls>"
    b"</Ntry></Stmt></BkToCstmrStmt></Document>"
)
MT940 = (
    b"{1:F01X}{4:\r\n:20:X\r\n:25:DE1\r\n:28C:1/1\r\n:60F:C260831EUR100,00\r\n"
    b":61:2609140914D2,50NTRFNONREF//R1\r\nmore\r\n:86:166?00FEE?20SVWZ+x?32A?33B\r\n"
    b":61:260915C1,NTRF\r\n:86:/EREF/1//CNTP/a/b/c//REMI/USTD//x/\r\n:62F:C260930EUR98,50\r\n-}\r\n"
)
BAI2 = (
    b"01,A,B,260930,0000,1,,,2/\n02,A,B,1,260930,,EUR,2/\n03,1,EUR,010,10000,,,015,9750,,/\n88,100,0,0,/\n"
    b"16,475,250,V,260930,,R1,,x/\n88,more\n16,195,100,S,1,2,3,R2,,y/\n"
    b"49,19850,4/\n98,19850,1,6/\n99,19850,1,8/\n"
)
XLSX = workbook([["Date", "Text", "Amount"], ["2026-09-14", "x", -2.5], ["2026-09-15", "y", 1]])
SAMPLES = {"csv": CSV, "qif": QIF, "ofx": OFX, "camt": CAMT, "mt940": MT940, "bai2": BAI2, "xlsx": XLSX}
Mutation = tuple[str, float, int, int]
SAID = Conventions(day_first=False, decimal=",", columns={"date": "1", "amount": "3"})
MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "flip", "drop", "again", "swap"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 255),
        st.integers(1, 60),
    ),
    min_size=1,
    max_size=6,
)


def mutated(data: bytes, kind: str, where: float, byte: int, length: int) -> bytes:
    at = int(where * len(data))
    chunk = data[at : at + length]
    match kind:
        case "cut":
            return data[:at]
        case "flip":
            return data[:at] + bytes([byte]) + data[at + 1 :]
        case "drop":
            return data[:at] + data[at + length :]
        case "again":
            return data[:at] + chunk * (2 + byte % 5) + data[at + length :]
        case _:
            return data[at:] + data[:at]


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_read_whole_before_it_is_damaged(name: str) -> None:
    done = read(Source(f"a.{name}", SAMPLES[name]), Conventions(day_first=True, decimal="."))
    assert done.format == {"csv": "delimited", "xlsx": "delimited"}.get(name, name)
    assert [len(each.entries) for each in done.statements] == [1 if name in {"ofx", "camt"} else 2]


@pytest.mark.parametrize("name", SAMPLES)
@given(MUTATIONS)
def test_no_damage_raises_anything_but_a_refusal(name: str, mutations: list[Mutation]) -> None:
    data = SAMPLES[name]
    for mutation in mutations:
        data = mutated(data, *mutation)
    source = Source(f"a.{name}", data)
    identify(source)
    for conventions in (Conventions(), SAID):
        with contextlib.suppress(SourceError):
            gather([read(source, conventions)])


@given(MUTATIONS, st.sampled_from(["xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"]))
def test_no_damage_within_a_workbook_raises_anything_but_a_refusal(
    mutations: list[Mutation], part: str
) -> None:
    header = '<row r="1"><c r="A1" t="str"><v>Date</v></c><c r="B1" t="s"><v>0</v></c></row>'
    row = '<row r="2"><c r="A2" s="1"><v>46279</v></c><c r="B2"><f>1</f><v>2.5</v></c></row>'
    data = sheet_part(header + row)
    for mutation in mutations:
        data = mutated(data, *mutation)
    with contextlib.suppress(SourceError):
        read(Source("a.xlsx", with_parts(XLSX, {part: data})), Conventions())


def calls(work: Callable[[], object]) -> int:
    """How many Python functions a piece of work calls."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        with contextlib.suppress(SourceError):
            work()
    finally:
        sys.setprofile(before)
    return count


def bai2_of(middle: bytes) -> bytes:
    return (
        b"01,A,B,260930,0000,1,,,2/\n02,A,B,1,260930,,EUR,2/\n" + middle + b"49,0,1/\n98,0,1,1/\n99,0,1,1/\n"
    )


def sheet_of(rows: bytes) -> bytes:
    head = '<row><c t="str"><v>Date</v></c><c t="str"><v>Amount</v></c></row>'
    return with_parts(XLSX, {"xl/worksheets/sheet1.xml": sheet_part(head + rows.decode())})


SHAPES: dict[str, Callable[[int], bytes]] = {
    "csv": lambda n: b"Date;Text;Amount\n" + b"2026-09-14;x;1.50\n" * n,
    "csv, quotes never closed": lambda n: b"Date;Text;Amount\n" + b'2026-09-14;"x;1.50\n' * n,
    "csv, cells too many": lambda n: b"Date;Text;Amount\n" + b"2026-09-14;x;y;1.50\n" * n,
    "csv, one long row": lambda n: b"Date;Text;Amount\n" + b";" * (n * 20) + b"\n",
    "csv, blank lines": lambda n: b"Date;Text;Amount\n" + b"\n" * n,
    "qif": lambda n: b"!Type:Bank\n" + b"D14.09.2026\nT1.50\n^\n" * n,
    "qif, one record": lambda n: b"!Type:Bank\n" + b"D14.09.2026\nT1.50\nSx\n$1\n" * n,
    "qif, sections": lambda n: b"!Account\nNx\n^\n!Type:Bank\n" * n,
    "ofx": lambda n: b"<OFX><STMTRS><CURDEF>EUR" + b"<STMTTRN><DTPOSTED>20260914<TRNAMT>1<FITID>7" * n,
    "ofx, comments never closed": lambda n: b"<OFX><STMTRS>" + b"<!-- <![CDATA[ <? " * n,
    "ofx, statements": lambda n: b"<OFX>" + b"<STMTRS><CURDEF>EUR" * n,
    "camt": lambda n: CAMT.replace(b"<Ntry>", b"<Ntry><Amt Ccy='EUR'>1</Amt></Ntry>" * n + b"<Ntry>"),
    "camt, one entry": lambda n: CAMT.replace(b"<TxDtls>", b"<TxDtls></TxDtls>" * n + b"<TxDtls>"),
    "camt, statements": lambda n: CAMT.replace(b"<Stmt>", b"<Stmt></Stmt>" * n + b"<Stmt>"),
    "mt940": lambda n: MT940.replace(b":62F:", b":61:260915C1,NTRF\r\n:86:x\r\n" * n + b":62F:"),
    "mt940, one text": lambda n: MT940.replace(b":62F:", b":86:x\r\n" + b"?20x\r\n" * n + b":62F:"),
    "mt940, messages": lambda n: MT940 * n,
    "bai2": lambda n: bai2_of(b"03,1,EUR,,,,/\n" + b"16,475,250,Z,R,,x/\n" * n),
    "bai2, one record": lambda n: bai2_of(b"03,1,EUR" + b",010,1,,\n88,015,1,," * n + b"/\n"),
    "bai2, accounts": lambda n: bai2_of(b"03,1,EUR,,,,/\n49,0,2/\n" * n),
    "xlsx": lambda n: sheet_of(b'<row><c t="d"><v>2026-09-14</v></c><c><v>1.5</v></c></row>' * n),
    "xlsx, far cells": lambda n: sheet_of(b'<row><c r="XFD1"><v>1</v></c></row>' * n),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_file_is_about_four_times_the_work(shape: str) -> None:
    few, many = (Source("a", SHAPES[shape](n)) for n in (150, 600))
    one, other = (calls(lambda source=source: read(source, Conventions())) for source in (few, many))
    assert other < 5 * one + 20_000


def test_a_file_larger_than_what_is_read_is_refused_unread(tmp_path: Path) -> None:

    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(SourceError, match="split it into files of up to"):
        read_source(path)


def test_more_lines_than_are_read_are_refused_before_they_are_split() -> None:
    with pytest.raises(SourceError, match="has 2500001 lines; split it into files of 2000000"):
        read(Source("a.csv", b"\n" * 2_500_000), Conventions())


def test_rows_that_are_not_those_of_the_header_are_refused_once_they_are_too_many() -> None:
    data = b"Date;Text;Amount\n" + b"2026-09-14;1.50\n" * 50_001
    with pytest.raises(SourceError, match="line 50002: is the 50001th row with another number of cells"):
        read(Source("a.csv", data), Conventions())
