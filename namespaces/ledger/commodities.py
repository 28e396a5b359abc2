"""What the symbols of plain text books stand for.

A symbol becomes an ISO 4217 code only where it stands for one currency: € and £ do, and so do symbols
that name their country, such as US$. $, ¥ and kr stand for several, so they become the currency that
the person who has the files names, if it is one of theirs. Otherwise the symbol is kept as it is written,
a commodity of its own that adds up with no code, and that is told: a dollar is never taken for the
American one because no other is there, as a Canadian company's books look the same.
"""

from ..tables.decided import tell_currency
from ..tables.numbers import currency_in
from ..tables.source import Conventions, Findings

_SEVERAL = {
    "$": "USD CAD AUD NZD ARS BBD BMD BND BSD BZD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD SBD SGD SRD"
    " TTD TWD UYU XCD",
    "¥": "JPY CNY",
    "￥": "JPY CNY",
    "kr": "DKK ISK NOK SEK",
}
_ONE = {
    **dict.fromkeys(("US$", "USD$"), "USD"),
    **dict.fromkeys(("C$", "CA$", "CAD$"), "CAD"),
    **dict.fromkeys(("A$", "AU$"), "AUD"),
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "R$": "BRL",
    "NT$": "TWD",
    "MX$": "MXN",
    "₹": "INR",
}


class Commodities:
    """Names the commodities of one file."""

    def __init__(self, conventions: Conventions, findings: Findings) -> None:
        self._conventions = conventions
        self._host = conventions.currency
        self._used = False
        """True once the currency that was said was needed."""
        self._findings = findings
        self._open: dict[str, int] = {}
        """Symbols that could not be named, with the first line of each."""
        self._bare: int | None = None
        """The first line with an amount without any."""

    def name(self, written: str, row: int) -> str | None:
        """The currency that a symbol or name in the file stands for; None for an amount alone."""
        if not written:
            if self._host is None and self._bare is None:
                self._bare = row
            self._used = True
            return self._host
        if written in _SEVERAL:
            if self._host in _SEVERAL[written].split():
                self._used = True
                return self._host
            self._open.setdefault(written, row)
            return written
        one = _ONE.get(written) or (currency_in(written) if len(written) == 1 else None)
        return one or written

    def tell(self) -> None:
        """Tells what was left open, and where a kept decision was used."""
        if self._used:
            tell_currency(None, self._conventions, self._findings)
        for symbol, row in self._open.items():
            codes = ", ".join(_SEVERAL[symbol].split()[:4])
            what = f"{symbol!r} stands for several currencies ({codes}, ...), so it is kept as it is and"
            self._findings.add("warning", f"{what} matches no code; say which with currency=", row)
        if self._bare is not None:
            what = "an amount names no currency: it matches only others without one"
            self._findings.add("info", what, self._bare)
