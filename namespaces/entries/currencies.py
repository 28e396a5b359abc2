"""How many digits amounts of a currency have behind the decimal mark, as ISO 4217 lists them."""

from decimal import Decimal

from ..tables.numbers import is_currency

_WITHOUT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_WITH_THREE = "BHD IQD JOD KWD LYD OMR TND"
_DIGITS = {**dict.fromkeys(_WITHOUT.split(), 0), **dict.fromkeys(_WITH_THREE.split(), 3)}
_USUAL = 2


def minor_units(currency: str | None) -> int | None:
    """Digits behind the decimal mark; None for a commodity that is no known currency: as many as wanted.

    Books that name no currency are taken to keep two.
    """
    if currency in _DIGITS:
        return _DIGITS[currency]
    return _USUAL if currency is None or is_currency(currency) else None


def in_units(amount: Decimal, currency: str | None) -> Decimal | None:
    """The amount with just the digits of its currency; None when it has more than that."""
    units = minor_units(currency)
    if units is None:
        return Decimal(f"{amount:f}")
    rounded = amount.quantize(Decimal(1).scaleb(-units))
    return rounded if rounded == amount else None
