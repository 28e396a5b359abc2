"""Harbour & Vale BV, Rotterdam: one account in EUR and one in USD."""

from demo_company.movements import Account, Month, Partner

DEBTORS, CREDITORS, CHARGES = "1300 Debtors", "1600 Creditors", "4900 Bank charges"
USD_DEBTORS, USD_CREDITORS = "1310 Debtors USD", "1610 Creditors USD"
_TRADE = (
    Partner("Maasoever Interieur", DEBTORS, 500, 8200),
    Partner("Kadewerk Logistiek", CREDITORS, -2100, -180),
    Partner("Polderhout Groothandel", DEBTORS, 700, 9600),
    Partner("Windmolen Energie", CREDITORS, -1700, -350),
    Partner("Sluis en Dijk Bouw", DEBTORS, 250, 4100),
)
_DOLLAR_TRADE = (
    Partner("Cedar Point Lumber Inc", USD_CREDITORS, -16000, -900),
    Partner("Granite Bay Kitchens", USD_DEBTORS, 1200, 19000),
    Partner("Lakeshore Millwork", USD_DEBTORS, 800, 12000),
    Partner("Atlantic Box Freight", USD_CREDITORS, -5200, -600),
)


def current() -> Account:
    """The account in EUR: nearly all of it ties."""
    september, october = Month(2026, 9, "bv current"), Month(2026, 10, "bv current")
    for month in (september, october):
        month.trade(_TRADE, 58, late=6)
        month.both(1, -287_500, "Havenkantoor Beheer", "4100 Rent", ref="HUUR")
        _toll(month)
    _september(september)
    _october(october)
    books = "1100 Current account EUR"
    return Account("NL68HVBK0417164300", "EUR", books, 3_377_209, september, october)


def _toll(month: Month) -> None:
    """One invoice, paid by three transfers."""
    more = 700 * (month.month - 9)
    month.in_books(15, -381_600 - 3 * more, CREDITORS, "Kadewerk Logistiek verzamelfactuur", "F 8810")
    for part, cents in enumerate((-150_000, -140_000, -91_600), 1):
        month.on_bank(15 + part // 2, cents - more, "KADEWERK LOGISTIEK", f"F 8810 DEEL {part}")


def _september(month: Month) -> None:
    # Entered twice; received once.
    month.both(10, 194_375, "Sluis en Dijk Bouw", DEBTORS, ref="F 42077")
    month.in_books(11, 194_375, DEBTORS, "Sluis en Dijk Bouw", "F 42077")
    # From the sister company, entered when she sent it.
    month.in_books(30, 1_250_000, "1500 Intercompany GmbH", "Harbour & Vale GmbH", "IC 20930")
    month.on_bank(30, -1_825, "KOSTEN ZAKELIJKE REKENING", "SEPTEMBER")


def _october(month: Month) -> None:
    month.on_bank(1, 1_250_000, "HARBOUR & VALE GMBH", "IC 20930")
    month.in_books(2, -1_825, CHARGES, "Kosten zakelijke rekening September")
    month.in_books(2, -194_375, DEBTORS, "Correction: F 42077 was entered twice", "F 42077")
    month.on_bank(30, -1_825, "KOSTEN ZAKELIJKE REKENING", "OKTOBER")
    month.in_books(30, 203_150, DEBTORS, "Polderhout Groothandel", "F 42140")


def dollar() -> Account:
    """The account in USD."""
    september, october = Month(2026, 9, "bv dollar"), Month(2026, 10, "bv dollar")
    for month in (september, october):
        month.trade(_DOLLAR_TRADE, 60, late=5)
    _september_dollar(september)
    _october_dollar(october)
    return Account("7702215580", "USD", "1110 Dollar account 7702215580", 8_815_040, september, october)


def _september_dollar(month: Month) -> None:
    # A bank on the way kept its charge.
    month.in_books(8, 1_500_000, USD_DEBTORS, "Granite Bay Kitchens", "INV 6012")
    month.on_bank(9, 1_497_500, "GRANITE BAY KITCHENS", "WIRE IN INV 6012 CHGS USD 25.00")
    # Paid in EUR: entered at the rate of the invoice.
    month.in_books(16, 2_518_000, USD_DEBTORS, "Brouwersgracht Hotel EUR 21,400.00 at 1.17664", "INV 6020")
    month.on_bank(16, 2_513_188, "BROUWERSGRACHT HOTEL", "FX EUR 21400.00 AT 1.174387 INV 6020")
    # Entered and taken back, never paid.
    month.in_books(17, -640_000, USD_CREDITORS, "Cedar Point Lumber Inc", "PO 7714")
    month.in_books(18, 640_000, USD_CREDITORS, "Reversal: Cedar Point Lumber Inc", "PO 7714")
    month.on_bank(29, -4_000, "WIRE FEES", "SEPTEMBER 8 ITEMS")
    month.on_bank(30, 1_932, "INTEREST PAID", "SEPTEMBER")
    month.in_books(30, -418_000, USD_CREDITORS, "Atlantic Box Freight", "INV 3390")


def _october_dollar(month: Month) -> None:
    month.on_bank(1, -418_000, "ATLANTIC BOX FREIGHT", "INV 3390")
    month.in_books(2, -4_000, CHARGES, "Wire fees September")
    month.in_books(2, 1_932, "8900 Interest received", "Interest September")
    month.on_bank(29, -3_500, "WIRE FEES", "OCTOBER 7 ITEMS")
    month.on_bank(30, 2_071, "INTEREST PAID", "OCTOBER")
    month.in_books(30, 366_250, USD_DEBTORS, "Lakeshore Millwork", "INV 6061")
