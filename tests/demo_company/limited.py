"""Harbour & Vale Ltd, Hull: an operating account and an account for receipts, both in GBP."""

from demo_company.movements import Account, Month, Partner

DEBTORS, CREDITORS = "1100 Trade debtors", "2100 Trade creditors"
WAGES, RENT, CHARGES = "7000 Wages and salaries", "7100 Rent", "7900 Bank charges"
SALES, COMMISSION, SUNDRY = "4010 Counter sales", "7910 Card commission", "8200 Sundry expenses"
CHART = {
    DEBTORS: 18_214_590,
    CREDITORS: -11_940_215,
    "3000 Retained earnings": -12_386_410,
    "4900 Interest received": -31_204,
    CHARGES: 31_204,
}
"""Balances before September of accounts beside the two at the bank, in cents; the others hold nothing."""
_TRADE = (
    Partner("Meridian Joinery Ltd", DEBTORS, 900, 9000),
    Partner("Pemberton Sawmills", CREDITORS, -7000, -600),
    Partner("Oak and Ivy Design", DEBTORS, 400, 6500),
    Partner("Northsea Freight Services", CREDITORS, -1900, -250),
    Partner("Baltic Timber AS", DEBTORS, 2500, 14000),
    Partner("Kestrel Power", CREDITORS, -3200, -700),
    Partner("Fenwick Glazing", DEBTORS, 150, 2400),
    Partner("Hull Couriers", CREDITORS, -240, -35),
    Partner("Tyne Fixings and Fittings", CREDITORS, -1400, -90),
    Partner("Larch Lane Interiors", DEBTORS, 300, 5200),
)
_COUNTER = (
    Partner("Tidepay card takings", SALES, 180, 2400),
    Partner("Tidepay card takings", SALES, 90, 1900),
    Partner("Corner Bench Workshop", DEBTORS, 60, 900),
    Partner("Tidepay card takings", SALES, 120, 2200),
)
_STAFF = (
    ("A. Bexley", -241_630),
    ("C. Dunmore", -198_742),
    ("E. Farrow", -265_118),
    ("G. Hale", -187_905),
    ("I. Jessop", -223_467),
    ("K. Lund", -204_381),
    ("M. Norby", -176_254),
)


def operating() -> Account:
    """55120944: payroll, suppliers, customers."""
    september, october = Month(2026, 9, "ltd operating"), Month(2026, 10, "ltd operating")
    for month in (september, october):
        month.trade(_TRADE, 72, late=7)
        _standing(month)
    _september(september)
    _october(october)
    books = "1200 Operating account 55120944"
    return Account("55120944", "GBP", books, 4_821_560, september, october)


def _standing(month: Month) -> None:
    """What comes each month: rent, rates, telephone, the payroll as one sum at the bank."""
    month.both(1, -325_000, "Harbour Estates LLP", RENT, ref="RENT")
    month.both(2, -118_640, "City Business Rates", "7103 Business rates")
    month.both(8, -14_999, "Brightwire Telecom", "7502 Telephone")
    payday = 25 if month.month == 9 else 23
    for name, cents in _STAFF:
        month.in_books(payday, cents, WAGES, f"Salary {name}", "PAYROLL")
    paid = sum(cents for _, cents in _STAFF)
    month.on_bank(payday, paid, "BACS BULK PAYMENT", "PAYROLL 7 ITEMS")


def _september(month: Month) -> None:
    # One bill, paid in two parts.
    month.in_books(8, -486_000, CREDITORS, "Pemberton Sawmills", "INV 7719")
    month.on_bank(8, -300_000, "PEMBERTON SAWMILLS", "INV 7719 PART 1")
    month.on_bank(10, -186_000, "PEMBERTON SAWMILLS", "INV 7719 PART 2")
    # Entered twice; paid once.
    month.both(9, -84_215, "Northsea Freight Services", CREDITORS, ref="INV 90218")
    month.in_books(10, -84_215, CREDITORS, "Northsea Freight Services", "INV 90218")
    # 1,284.60 was paid, 1,248.60 was entered.
    month.on_bank(15, -128_460, "TYNE FIXINGS AND FITTINGS", "INV 3380")
    month.in_books(15, -124_860, CREDITORS, "Tyne Fixings and Fittings", "INV 3380")
    # A bonus paid to a customer, entered as money in.
    month.on_bank(17, -59_000, "LARCH LANE INTERIORS", "CN 1182")
    month.in_books(17, 59_000, DEBTORS, "Larch Lane Interiors", "CN 1182")
    # At the bank only: an insurance, and what the bank takes.
    month.on_bank(21, -9_640, "ANCHOR MUTUAL INSURANCE", "DD BUILDINGS POLICY")
    month.on_bank(30, -2_850, "MONTHLY CHARGES", "ACCOUNT FEE SEPTEMBER")
    # Cheques: one never presented, one in time, two that are still out at the end; one receipt on its way.
    month.in_books(3, -31_840, CREDITORS, "Cheque to Wold Surveyors", "CHQ 002187")
    month.in_books(11, -26_400, CREDITORS, "Cheque to Fenwick Glazing", "CHQ 002204")
    month.on_bank(15, -26_400, "CHEQUE 002204")
    month.in_books(28, -142_000, CREDITORS, "Cheque to Humber Plant Hire", "CHQ 002218")
    month.in_books(30, -38_625, CREDITORS, "Cheque to Ridge Tooling", "CHQ 002221")
    month.in_books(30, 276_000, DEBTORS, "Humber Kitchens", "INV 4533")


def _october(month: Month) -> None:
    # What September left under way.
    month.on_bank(1, 276_000, "HUMBER KITCHENS", "INV 4533")
    month.on_bank(2, -38_625, "CHEQUE 002221")
    month.on_bank(5, -142_000, "CHEQUE 002218")
    # What September lacked is entered.
    month.in_books(2, -9_640, "7300 Insurance", "Anchor Mutual Insurance", "BUILDINGS POLICY")
    month.in_books(2, -2_850, CHARGES, "Account fee September")
    # This month's own.
    month.on_bank(21, -9_640, "ANCHOR MUTUAL INSURANCE", "DD BUILDINGS POLICY")
    month.on_bank(30, -2_850, "MONTHLY CHARGES", "ACCOUNT FEE OCTOBER")
    month.in_books(30, -51_775, CREDITORS, "Cheque to Ridge Tooling", "CHQ 002239")


def receipts() -> Account:
    """55120952: takings of the counter, cheques paid in, a market place that keeps its commission."""
    september, october = Month(2026, 9, "ltd receipts"), Month(2026, 10, "ltd receipts")
    for month in (september, october):
        month.trade(_COUNTER, 54, late=4, days=2)
        _market(month)
    _september_receipts(september)
    _october_receipts(october)
    books = "1210 Receipts account 55120952"
    return Account("55120952", "GBP", books, 1_290_475, september, october)


def _market(month: Month) -> None:
    """Settled each week: the books have the sales, the bank what is left of them."""
    for week, gross in enumerate((184_250, 201_375, 167_940, 223_610)):
        day = 7 + 7 * week - (0 if month.month == 9 else 2)
        cents = gross + 10_000 * (month.month - 9) + week
        fee = round(cents * 29 / 1000)
        month.in_books(
            day, cents, SALES, f"Quayside Market week {week + 1}", f"QM 40{month.month:02}{week + 1}"
        )
        month.on_bank(day + 1, cents - fee, "QUAYSIDE MARKET", f"SETTLEMENT QM 40{month.month:02}{week + 1}")


def _september_receipts(month: Month) -> None:
    # Four cheques, paid in on one slip.
    for name, cents in (("Dale", 64_310), ("Esk", 118_905), ("Swale", 47_650), ("Ure", 110_915)):
        month.in_books(14, cents, DEBTORS, f"Cheque from {name} Cottage Lettings", "SLIP 500231")
    month.on_bank(15, 341_780, "PAID IN", "SLIP 500231")
    # Charged twice by the bank, and rightly entered once.
    month.both(10, -4_900, "Tidepay terminal rental", COMMISSION, ref="TR 40926")
    month.on_bank(11, -4_900, "TIDEPAY TERMINAL RENTAL", "TR 40926")
    # Cash: five pence short at the counter of the bank.
    month.in_books(18, 61_240, SALES, "Cash paid in", "SLIP 500232")
    month.on_bank(18, 61_235, "CASH PAID IN", "SLIP 500232")
    # At the bank only: interest, a payer nobody knows, a rounding.
    month.on_bank(22, 27_500, "M BROUGH", "FASTER PAYMENT")
    month.on_bank(24, 37, "ADJUSTMENT", "ROUNDING")
    month.on_bank(30, 4_187, "GROSS INTEREST", "CREDIT INTEREST TO 30 SEP")
    # Takings of the last day.
    month.in_books(30, 98_715, SALES, "Tidepay card takings", "BATCH 0930")


def _october_receipts(month: Month) -> None:
    month.on_bank(2, 98_715, "TIDEPAY CARD TAKINGS", "BATCH 0930")
    month.in_books(5, 4_187, "4900 Interest received", "Gross interest September")
    month.on_bank(12, -4_900, "TIDEPAY TERMINAL RENTAL", "TR 41026")
    month.in_books(12, -4_900, COMMISSION, "Tidepay terminal rental", "TR 41026")
    month.on_bank(14, 4_900, "TIDEPAY", "REFUND TR 40926 CHARGED TWICE")
    month.on_bank(30, 4_402, "GROSS INTEREST", "CREDIT INTEREST TO 31 OCT")
    month.in_books(30, 105_560, SALES, "Tidepay card takings", "BATCH 1030")
