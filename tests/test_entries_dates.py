"""A day is written as the other dates of a file are."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.entries.formats.amounts import style_of
from offing.namespaces.entries.formats.dates import like
from offing.namespaces.tables.dates import Dates, Order

DAY = datetime.date(2026, 5, 4)


@pytest.mark.parametrize(
    ("samples", "order", "written"),
    [
        (["2026-09-14"], "day", "2026-05-04"),
        (["2026/9/14"], "day", "2026/5/4"),
        (["20260914"], "day", "20260504"),
        (["14.09.2026"], "day", "04.05.2026"),
        (["14.9.26"], "month", "4.5.26"),
        (["9/14/2026"], "month", "5/4/2026"),
        (["12/14/2026", "9/1/2026"], "month", "5/4/2026"),
        (["14/12/2026", "11/10/2026"], "day", "04/05/2026"),
        (["1/09/2026"], "day", "4/05/2026"),
        (["14-Sep-26"], "day", "04-May-26"),
        (["1 September 2026", "12 May 2026"], "day", "4 May 2026"),
        (["1 SEP 2026"], "day", "4 MAY 2026"),
        (["Sep 14, 2026"], "day", "May 04, 2026"),
        (["2026-09-14T10:22:01Z"], "day", "2026-05-04"),
        (["Montag"], "day", "2026-05-04"),
        ([], "day", "2026-05-04"),
    ],
)
def test_a_day_is_written_like_the_samples(samples: list[str], order: Order, written: str) -> None:
    assert like(samples, DAY, order) == written


FORMS = ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d %b %Y", "%d-%B-%Y", "%b %d, %Y", "%Y%m%d"]
DAYS = st.dates(datetime.date(1970, 1, 1), datetime.date(2068, 12, 31))


@given(st.sampled_from(FORMS), st.lists(DAYS, min_size=1, max_size=5), DAYS)
def test_what_is_written_reads_back_as_that_day(
    form: str, others: list[datetime.date], day: datetime.date
) -> None:
    order: Order = "month" if form.startswith("%m") else "day"
    written = like([each.strftime(form) for each in others], day, order)
    assert Dates(order).read(written) == day


@pytest.mark.parametrize(
    ("samples", "decimal", "sample", "amount", "written"),
    [
        (["1,234.50"], ".", "12.50", "98765.4", "98,765.40"),
        (["1.234,50"], ",", "12,50 €", "1234.50", "1.234,50 €"),
        (["1'234.50"], ".", "(12.50)", "5.00", "(5.00)"),
        (["12.50"], ".", "12.50-", "1234.50", "1234.50-"),
        (["1\u00a0234,50"], ",", "7,5", "1234.50", "1\u00a0234,50"),
        (["500"], None, "500", "7.00", "7"),
        (["500"], None, "500", "7.25", "7.25"),
        (["5.000"], ".", "5.000", "7.25", "7.250"),
    ],
)
def test_an_amount_is_written_like_the_samples(
    samples: list[str], decimal: str | None, sample: str, amount: str, written: str
) -> None:
    assert style_of(samples, decimal).like(sample, Decimal(amount)) == written
