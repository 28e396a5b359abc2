"""Which numbers of an answer are figures, and when one says what its record says."""

import datetime
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.engine.answer.check import check_figures
from offing.engine.store.facts import Figure
from offing.namespaces import Record

DAY = datetime.date(2026, 9, 14)
FEE = Record("bank:txn/2026-09-14/fee", Decimal("-12.50"), "GBP", DAY, "CHARGE")
BALANCE = Record("bank:balance/1/2026-09-30/closing", Decimal("42186.72"), "GBP", datetime.date(2026, 9, 30))
OVERDRAFT = Record("bank:balance/2/2026-09-30/closing", Decimal("-310.00"), "GBP", datetime.date(2026, 9, 30))
MATCHED = Record("matching:1/2026-09-01..2026-09-30/matched", Decimal(29), text="pairs", derivation="x")
ABROAD = Record("bank:txn/2026-09-14/card", Decimal("-92.40"), "GBP", DAY, "HOTEL LYON EUR 108.00 AT 1.1688")
KNOWN = {record.id: record for record in (FEE, BALANCE, OVERDRAFT, MATCHED, ABROAD)}


def figures(
    answer: str, asked: str = "", links: Mapping[str, list[str]] = MappingProxyType({})
) -> list[tuple[str, bool]]:
    """Each figure as written, and whether it is linked."""
    found = check_figures(answer, [asked], KNOWN, links)
    assert all(answer[one.start : one.end] == one.text for one in found)
    return [(one.text, not one.problem) for one in found]


@pytest.mark.parametrize(
    "written",
    [
        *("42,186.72 GBP", "GBP 42,186.72", "£42,186.72", "42186.72", "42.186,72 GBP", "42 186,72 GBP"),
        *("42'186.72 GBP", "£42,187", "42.2k GBP", "£42.19k", "about £42,000", "0.04m GBP", "+42,186.72"),
    ],
)
def test_a_balance_may_be_written_in_any_of_the_usual_ways(written: str) -> None:
    assert [linked for _, linked in figures(f"It held {written} [[{BALANCE.id}]].")] == [True]


@pytest.mark.parametrize(
    "written",
    [
        *("42,168.72 GBP", "-42,186.72 GBP", "(42,186.72)", "42,186.72 EUR", "$42,186.72", "42,186.70 GBP"),
        *("£42,186", "42.1k GBP", "about £43,000", "4,218.67 GBP", "421,867.20 GBP", "£42.186", "42 GBP"),
    ],
)
def test_one_that_differs_in_size_sign_currency_or_rounding_is_not_linked(written: str) -> None:
    assert [linked for _, linked in figures(f"It held {written} [[{BALANCE.id}]].")] == [False]


@pytest.mark.parametrize(
    "no_figure",
    [
        *(
            "on 14 September 2026",
            "on 14.09.2026",
            "by 09/14",
            "in Q3 2026",
            "in FY2026/27",
            "at 10:30",
            "in 2026",
        ),
        *(
            "invoice 4471",
            "invoices 4471, 4472 and 4480",
            "cheque no. 001874",
            "account 55120944",
            "INV-2041/7",
        ),
        *("DE44 5001 0517 5407 3249 31", "`12.50`", "```\n12.50 GBP\n```", "https://a.example/12.50", "#12"),
        *(
            "september.csv:31",
            "operating_account.ofx, line 288",
            "within 5 days",
            "the 3rd",
            "page 12",
            "call 7.1",
        ),
        *(
            'the bank calls it "FEE 12.50"',
            "at a rate of 1.1688",
            "VAT at 20 %",
            "two accounts",
            "+44 20 7946 0018",
        ),
        *("1. First", "## 2.1 Second", "5 accounts"),
    ],
)
def test_dates_ids_and_the_like_are_no_figures(no_figure: str) -> None:
    assert figures(f"{no_figure}\n\nThere is more.") == []


def test_amounts_and_counts_need_a_source() -> None:
    answer = "The fee of 12.50 and 3 open items make 1,240 GBP, 4 % less."
    assert figures(answer) == [("12.50", False), ("3", False), ("1,240 GBP", False), ("4 %", False)]


def test_numbers_of_the_user_need_none_unless_they_are_given_one() -> None:
    asked = "Why is 1,258.78 GBP open? There are 3 items over 500."
    assert figures("Of the 1,258.78 GBP, 3 items exceed 500 GBP.", asked) == []
    assert figures(f"It is 1,258.78 GBP [[{FEE.id}]].", asked) == [("1,258.78 GBP", False)]


def test_a_figure_that_comes_again_needs_its_source_once() -> None:
    answer = f"We were charged £12.50.\n\n| fee | {-12.5:.2f} | [[{FEE.id}]] |"
    assert figures(answer) == [("£12.50", True), ("-12.50", True)]


def test_a_source_may_be_linked_apart_from_the_text() -> None:
    assert figures("It held 42,186.72 GBP.", links={"£42,186.72": [BALANCE.id]}) == [("42,186.72 GBP", True)]


def test_several_records_are_their_sum_their_difference_or_their_number() -> None:
    both = f"[[{FEE.id}]] [[{ABROAD.id}]]"
    answer = f"Paid: 104.90 GBP {both}. Apart: 79.90 GBP {both}. 2 payments {both}, or 3 payments {both}."
    assert figures(answer) == [("104.90 GBP", True), ("79.90 GBP", True), ("2", True), ("3", False)]


def test_a_count_may_be_of_what_is_listed_below_it() -> None:
    listed = f"- a [[{FEE.id}]]\n- b [[{ABROAD.id}]]"
    assert figures(f"There are 2 charges:\n\n{listed}") == [("2", True)]
    assert figures(f"There are 3 charges:\n\n{listed}") == [("3", False)]


def test_a_movement_out_is_written_without_its_sign_a_balance_is_not() -> None:
    assert figures(f"12.50 GBP [[{FEE.id}]]") == [("12.50 GBP", True)]
    assert figures(f"The account has 310.00 GBP [[{OVERDRAFT.id}]].") == [("310.00 GBP", False)]
    assert figures(f"The account is overdrawn by 310.00 GBP [[{OVERDRAFT.id}]].") == [("310.00 GBP", True)]
    assert figures(f"It is overdrawn by 42,186.72 GBP [[{BALANCE.id}]].") == [("42,186.72 GBP", False)]


@pytest.mark.parametrize(
    ("said", "linked"),
    [
        ("On 30 September it held", True),
        ("At the end of September 2026 it held", True),
        ("In Q3 2026 it rose to", True),
        ("At 31 August 2026 it held", False),
        ("In October it held", False),
        ("Unlike at 31 August 2026, it held", True),
    ],
)
def test_a_figure_is_of_the_time_of_its_record(said: str, linked: bool) -> None:  # noqa: FBT001
    assert figures(f"{said} 42,186.72 GBP [[{BALANCE.id}]].") == [("42,186.72 GBP", linked)]


def test_the_head_of_a_column_gives_scale_currency_and_date() -> None:
    rows = f"|---|---:|\n| operating | 42.2 [[{BALANCE.id}]] |"
    assert figures(f"| account | £'000 |\n{rows}") == [("42.2", True)]
    assert figures(f"| account | EUR k |\n{rows}") == [("42.2", False)]
    assert figures(f"| account | £'000, 31 August 2026 |\n{rows}") == [("42.2", False)]


def test_the_text_of_a_record_tells_an_amount_too() -> None:
    answer = f"The hotel cost 108.00 EUR [[{ABROAD.id}]], 109.00 EUR [[{ABROAD.id}]]."
    assert figures(answer) == [("108.00 EUR", True), ("109.00 EUR", False)]


def test_a_symbol_for_several_currencies_agrees_with_each_of_them() -> None:
    known = {"ledger:line/1": Record("ledger:line/1", Decimal("50.00"), "$")}
    answer = "Cash of $50.00 [[ledger:line/1]], 50.00 CAD [[ledger:line/1]], 50.00 EUR [[ledger:line/1]]."
    problems = [figure.problem for figure in check_figures(answer, [], known, {})]
    assert problems == ["", "", "ledger:line/1 is in $"]


def test_what_was_worked_out_from_an_amount_that_changed_is_stale() -> None:
    derivation = '{"expression": "sum(x)", "inputs": {"x": ["' + FEE.id + '"]}}'
    over = '{"expression": "-y", "inputs": {"y": "calc:1.1"}}'
    known = {
        **KNOWN,
        "calc:1.1": Record("calc:1.1", Decimal("-11.00"), "GBP", derivation=derivation),
        "calc:2.1": Record("calc:2.1", Decimal("11.00"), "GBP", derivation=over),
    }
    (figure,) = check_figures("Fees of 11.00 GBP [[calc:2.1]].", [], known, {})
    told = "calc:2.1 is out of date: what it was worked out from has changed since"
    assert figure == Figure("11.00 GBP", 8, 17, ("calc:2.1",), told)


def test_what_is_wrong_names_the_record_that_would_be_right() -> None:
    answer = f"It held 42,186.72 GBP [[{FEE.id}]], or 12.50 GBP, or 3 [[bank:txn/2026-09-14/feee]]."
    assert [figure.problem for figure in check_figures(answer, [], KNOWN, {})] == [
        f"{FEE.id} says -12.50 GBP ({BALANCE.id} has that amount)",
        "",
        f"there is no record bank:txn/2026-09-14/feee; did you mean {FEE.id}?",
    ]


AMOUNTS = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("99999999"), places=2)


@given(amount=AMOUNTS, places=st.integers(0, 2))
def test_an_amount_rounded_to_the_precision_shown_is_right_and_one_step_off_is_wrong(
    amount: Decimal, places: int
) -> None:
    step = Decimal(1).scaleb(-places)
    known = {"s:1": Record("s:1", amount, "EUR")}
    right = amount.quantize(step, ROUND_HALF_UP)
    wrong = right + 2 * step
    if right:
        assert [one.problem for one in check_figures(f"{right:,} EUR [[s:1]]", [], known, {})] == [""]
    assert [one.problem != "" for one in check_figures(f"{wrong:,} EUR [[s:1]]", [], known, {})] == [True]


PIECES = st.sampled_from(
    [
        "12.50",
        "1,234",
        "(",
        ")",
        "[[",
        "]]",
        "[[s:1]]",
        "GBP",
        "£",
        "-",
        "\u2013",
        "|",
        "\n",
        "---",
        "`",
        '"',
        " ",
        "3 items",
    ]
)


@given(answer=st.one_of(st.text(), st.lists(PIECES).map("".join)), asked=st.text(max_size=20))
def test_no_text_breaks_the_check(answer: str, asked: str) -> None:
    for figure in check_figures(
        answer, [asked], {"s:1": Record("s:1", Decimal("1.00"), "GBP", text=answer)}, {}
    ):
        assert answer[figure.start : figure.end] == figure.text


def test_a_token_without_end_costs_no_time_to_speak_of() -> None:
    """Each took minutes, or seconds at the least, while a pattern looked at it from every place again."""
    for endless in ("1", "1,111", "a-", "a1/", "a@", "(", "[[", '"', "`", "\0", "1 to 2 and "):
        assert check_figures(endless * (40_000 // len(endless)), [], {}, {}) is not None
