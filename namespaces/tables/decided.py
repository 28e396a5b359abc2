"""What is told of a file that is read as a person has decided, or that shows something else."""

from .dates import Dates
from .numbers import Numbers
from .source import Conventions, Findings


def tell_decided(dates: Dates, numbers: Numbers, conventions: Conventions, findings: Findings) -> None:
    """Tells where a kept decision was used, and where the file shows that it cannot be right."""
    if not conventions.said:
        return
    if conventions.day_first is not None:
        wanted = "day" if conventions.day_first else "month"
        if dates.said:
            findings.add("info", f"read {wanted} first, {conventions.said}")
        elif dates.order not in {None, wanted}:
            what = f"its dates show that the {dates.order} is first, so it is not read {wanted} first"
            findings.add("warning", f"{what}, {conventions.said}")
    if conventions.decimal is not None:
        if numbers.said:
            findings.add("info", f"read with the decimal mark {conventions.decimal!r}, {conventions.said}")
        elif numbers.decimal not in {None, conventions.decimal}:
            what = f"its numbers show the decimal mark {numbers.decimal!r}, so it is not read with"
            findings.add("warning", f"{what} {conventions.decimal!r}, {conventions.said}")


def tell_currency(named: str | None, conventions: Conventions, findings: Findings) -> None:
    """Tells the same of the currency; `named` is the one that the file names for all of it."""
    if not conventions.said or conventions.currency is None:
        return
    if named is None:
        findings.add("info", f"amounts are taken as {conventions.currency}, {conventions.said}")
    elif named != conventions.currency:
        what = f"names {named}, so its amounts are not taken as {conventions.currency}"
        findings.add("warning", f"{what}, {conventions.said}")
