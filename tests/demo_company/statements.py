"""The five accounts as their banks' statement files, each in its own format."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from xml.sax.saxutils import escape

from demo_company.movements import AtBank, Day, by_day, decimal

_TYPES = {True: "CREDIT", False: "DEBIT"}


def reference(entry: AtBank, number: int, bank: str) -> str:
    """The bank's own reference of the entry with that number in its month."""
    return f"{bank}{entry.day:%y%m}{number:04}"


def ofx(account: str, entries: Sequence[AtBank], closing: int, start: Day, end: Day, first: int = 1) -> str:
    """OFX 2 of the days from one to another; `first` numbers the first entry."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>',
        f"<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>"
        f"<DTSERVER>{end:%Y%m%d}220000</DTSERVER><LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>",
        "<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>",
        "<STMTRS><CURDEF>GBP</CURDEF><BANKACCTFROM><BANKID>204517</BANKID>"
        f"<ACCTID>{account}</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>",
        f"<BANKTRANLIST><DTSTART>{start:%Y%m%d}</DTSTART><DTEND>{end:%Y%m%d}</DTEND>",
    ]
    for number, each in enumerate(entries, first):
        lines.append(
            f"<STMTTRN><TRNTYPE>{_TYPES[each.cents > 0]}</TRNTYPE><DTPOSTED>{each.day:%Y%m%d}</DTPOSTED>"
            f"<TRNAMT>{decimal(each.cents)}</TRNAMT><FITID>{reference(each, number, 'HC')}</FITID>"
            f"<NAME>{escape(each.name)}</NAME><MEMO>{escape(each.text)}</MEMO></STMTTRN>"
        )
    lines += [
        "</BANKTRANLIST>",
        f"<LEDGERBAL><BALAMT>{decimal(closing)}</BALAMT><DTASOF>{end:%Y%m%d}</DTASOF></LEDGERBAL>",
        "</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>",
    ]
    return "\n".join(lines) + "\n"


def comma_separated(account: str, entries: Sequence[AtBank], opening: int) -> str:
    """CSV of a bank that has two columns for amounts, a running balance and no references."""
    lines = [f"Account number: {account}", "", "Date,Description,Paid out,Paid in,Balance,Currency"]
    balance = opening
    for each in entries:
        balance += each.cents
        paid = f"{decimal(-each.cents)}," if each.cents < 0 else f",{decimal(each.cents)}"
        text = f"{each.name} {each.text}".strip()
        lines.append(f"{each.day:%d %b %Y},{text},{paid},{decimal(balance)},GBP")
    return "\r\n".join(lines) + "\r\n"


def camt(iban: str, entries: Sequence[AtBank], opening: int, start: Day, end: Day) -> str:
    """CAMT.053 with one statement."""
    closing = opening + sum(each.cents for each in entries)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>',
        f"<GrpHdr><MsgId>WK{end:%Y%m}</MsgId><CreDtTm>{end:%Y-%m-%d}T22:00:00</CreDtTm></GrpHdr>",
        f"<Stmt><Id>WK{end:%Y%m}</Id><CreDtTm>{end:%Y-%m-%d}T22:00:00</CreDtTm>"
        f"<Acct><Id><IBAN>{iban}</IBAN></Id><Ccy>EUR</Ccy></Acct>",
        _camt_balance("OPBD", opening, start),
        _camt_balance("CLBD", closing, end),
    ]
    for number, each in enumerate(entries, 1):
        party = ("Dbtr", "Cdtr")[each.cents < 0]
        lines.append(
            f"<Ntry>{_camt_amount(each.cents)}<Sts><Cd>BOOK</Cd></Sts>"
            f"<BookgDt><Dt>{each.day}</Dt></BookgDt><ValDt><Dt>{each.day}</Dt></ValDt>"
            f"<AcctSvcrRef>{reference(each, number, 'WK')}</AcctSvcrRef>"
            f"<NtryDtls><TxDtls><RltdPties><{party}>"
            f"<Pty><Nm>{escape(each.name)}</Nm></Pty></{party}></RltdPties>"
            f"<RmtInf><Ustrd>{escape(each.text)}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
        )
    return "\n".join([*lines, "</Stmt></BkToCstmrStmt></Document>"]) + "\n"


def _camt_amount(cents: int) -> str:
    side = "CRDT" if cents >= 0 else "DBIT"
    return f'<Amt Ccy="EUR">{decimal(abs(cents))}</Amt><CdtDbtInd>{side}</CdtDbtInd>'


def _camt_balance(kind: str, cents: int, day: Day) -> str:
    kind = f"<Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp>"
    return f"<Bal>{kind}{_camt_amount(cents)}<Dt><Dt>{day}</Dt></Dt></Bal>"


def mt940(iban: str, entries: Sequence[AtBank], opening: int, start: Day, end: Day) -> str:
    """MT940 with one statement."""
    closing = opening + sum(each.cents for each in entries)
    eve = start - timedelta(1)
    lines = [f":20:HVBK{end:%y%m}", f":25:{iban}", f":28C:{end:%m}/1", f":60F:{_swift(opening, eve)}"]
    for number, each in enumerate(entries, 1):
        side = "C" if each.cents > 0 else "D"
        amount = decimal(abs(each.cents), ",")
        bank = reference(each, number, "HV")
        lines.append(f":61:{each.day:%y%m%d}{each.day:%m%d}{side}{amount}NTRFNONREF//{bank}")
        lines.append(f":86:/NAME/{each.name}/REMI/USTD//{each.text}/"[:65])
    lines += [f":62F:{_swift(closing, end)}", "-"]
    return "\r\n".join(lines) + "\r\n"


def _swift(cents: int, day: Day) -> str:
    return f"{'C' if cents >= 0 else 'D'}{day:%y%m%d}EUR{decimal(abs(cents), ',')}"


def bai2(account: str, entries: Sequence[AtBank], opening: int, end: Day) -> str:
    """BAI2 with a group for each day on which something happened, control totals included."""
    groups: list[str] = []
    balance, control, records = opening, 0, 0
    numbered = list(enumerate(entries, 1))
    days = [(day, list(each)) for day, each in groupby(numbered, key=lambda each: each[1].day)]
    for day, listed in days:
        closing = balance + sum(each.cents for _, each in listed)
        lines = list(_bai2_group(account, day, listed, (balance, closing)))
        control += balance + closing + sum(abs(each.cents) for _, each in listed)
        records += len(lines)
        groups += lines
        balance = closing
    made = f"{end:%y%m%d},2200,1"
    head = f"01,021300019,HARBOURVALE,{made},80,,2/"
    return "\n".join([head, *groups, f"99,{control},{len(days)},{records + 2}/"]) + "\n"


def _bai2_group(
    account: str, day: Day, listed: Sequence[tuple[int, AtBank]], ends: tuple[int, int]
) -> Iterator[str]:
    opening, closing = ends
    control = opening + closing + sum(abs(each.cents) for _, each in listed)
    yield f"02,HARBOURVALE,021300019,1,{day:%y%m%d},2359,USD,2/"
    yield f"03,{account},USD,010,{opening},,,015,{closing},,/"
    for number, each in listed:
        code = "195" if each.cents > 0 else "495"
        bank = reference(each, number, "IH")
        text = f"{each.name} {each.text}".replace("/", " ")
        yield f"16,{code},{abs(each.cents)},,{bank},,{text}/"
    yield f"49,{control},{len(listed) + 2}/"
    yield f"98,{control},1,{len(listed) + 4}/"


def ordered(entries: Sequence[AtBank]) -> list[AtBank]:
    """As a bank lists them."""
    return by_day(entries)
