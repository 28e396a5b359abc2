"""Harbour & Vale GmbH, Bremen: one account in EUR."""

from demo_company.movements import Account, Month, Partner

DEBTORS, CREDITORS = "Assets:Receivables", "Liabilities:Payables"
_TRADE = (
    Partner("Weserholz GmbH", DEBTORS, 800, 11000),
    Partner("Nordwind Spedition", CREDITORS, -2400, -300),
    Partner("Tischlerei Abendrot", DEBTORS, 300, 5200),
    Partner("Stadtwerke Hafenstrom", CREDITORS, -1900, -400),
    Partner("Innenausbau Leuchtturm", DEBTORS, 900, 7400),
    Partner("Beschlag und Mehr KG", CREDITORS, -3100, -120),
)
_SUPPLIERS = (
    ("Furnierwerk Ostertor", -312_044),
    ("Leimfabrik Delme", -88_719),
    ("Saegebedarf Hunte", -145_360),
    ("Verpackung Geest", -63_582),
)


def giro() -> Account:
    """The only account of the company."""
    september, october = Month(2026, 9, "gmbh giro"), Month(2026, 10, "gmbh giro")
    for month in (september, october):
        month.trade(_TRADE, 56, late=6)
        month.both(1, -412_500, "Speicherhaus Vermietung", "Expenses:Rent", ref="MIETE")
        _batch(month)
    _september(september)
    _october(october)
    return Account(
        "DE03900500150048812077", "EUR", "Assets:Bank:Weserkontor-48812077", 6_204_318, september, october
    )


def _batch(month: Month) -> None:
    """One order with four payments: one entry at the bank."""
    more = 1_300 * (month.month - 9)
    for name, cents in _SUPPLIERS:
        month.in_books(22, cents - more, CREDITORS, name, f"SEPA {month.month:02}-22")
    total = sum(cents - more for _, cents in _SUPPLIERS)
    month.on_bank(22, total, "SAMMELUEBERWEISUNG", f"SEPA {month.month:02}-22 4 POSTEN")


def _september(month: Month) -> None:
    # A bonus was paid to a customer, and entered as money in.
    month.on_bank(9, -73_150, "TISCHLEREI ABENDROT", "JAHRESBONUS 42207")
    month.in_books(9, 73_150, DEBTORS, "Jahresbonus Tischlerei Abendrot", "42207")
    # Collected and given back: nothing is left of it, and nobody entered either.
    month.on_bank(14, -119_000, "MESSE UND MARKT AG", "LASTSCHRIFT STAND 14")
    month.on_bank(16, 119_000, "MESSE UND MARKT AG", "RUECKGABE LASTSCHRIFT STAND 14")
    # A customer in Switzerland: the books have the rate of the invoice, the bank that of the day.
    month.in_books(17, 841_233, DEBTORS, "Seeblick Kuechen AG CHF 7900.00 at 1.06485", "RE 5120")
    month.on_bank(17, 839_721, "SEEBLICK KUECHEN AG", "RE 5120 CHF 7900,00 KURS 1,06294")
    # 2,673.40 was received, 2,637.40 was entered.
    month.on_bank(18, 267_340, "INNENAUSBAU LEUCHTTURM", "RE 5133")
    month.in_books(18, 263_740, DEBTORS, "Innenausbau Leuchtturm", "RE 5133")
    # At the bank only.
    month.on_bank(23, -8_925, "RUNDFUNK BEITRAG", "LASTSCHRIFT 3. QUARTAL")
    month.on_bank(30, -1_490, "KONTOABSCHLUSS", "ENTGELT KONTOFUEHRUNG SEPTEMBER")
    # To the sister company; it arrives there in October.
    month.both(30, -1_250_000, "Harbour & Vale BV", "Assets:Intercompany:BV", ref="IC 20930")
    # Paid on the last day, not executed yet.
    month.in_books(30, -174_812, CREDITORS, "Beschlag und Mehr KG", "RE 9917")


def _october(month: Month) -> None:
    month.on_bank(1, -174_812, "BESCHLAG UND MEHR KG", "RE 9917")
    month.in_books(2, -8_925, "Expenses:Fees", "Rundfunkbeitrag 3. Quartal")
    month.in_books(2, -1_490, "Expenses:Bank", "Entgelt Kontofuehrung September")
    month.on_bank(30, -1_490, "KONTOABSCHLUSS", "ENTGELT KONTOFUEHRUNG OKTOBER")
    month.in_books(30, -96_044, CREDITORS, "Leimfabrik Delme", "RE 9954")
