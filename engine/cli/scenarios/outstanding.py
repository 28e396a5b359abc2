"""Which items are outstanding, and which only look like it."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from ...models.scripted import Playbook
from .reconciled import records, september
from .scenario import Answer, RecordId, Scenario
from .september import GENERAL_LEDGER, STATEMENT


class Outstanding(Answer):
    """What is on its way to the bank."""

    entries: Annotated[frozenset[RecordId], Field(description="Lines of account 1200 in the books")]
    total: Annotated[Decimal, Field(description="Their sum; money out is negative")]


async def _under_way(book: Playbook, request: str) -> str:
    timing = (await september(book))["timing"]
    ids = sorted(records(timing["items"]))
    total = await book.call("calculate", expression="sum(entries)", inputs={"entries": [*ids]})
    return Outstanding(entries=frozenset(ids), total=Decimal(total.json["amount"])).model_dump_json()


async def _whatever_the_bank_lacks(book: Playbook, request: str) -> str:
    done = await september(book)
    lacking = [*done["timing"]["items"], *done["missing_at_bank"]["items"]]
    total = sum((Decimal(each["amount"]) for each in lacking), Decimal())
    return Outstanding(entries=records(lacking), total=total).model_dump_json()


SCENARIO = Scenario(
    name="outstanding",
    question=(
        "Which entries of the bank account in the books were outstanding at 30 September 2026: entered so "
        "late in the month that they could not be expected at the bank yet? Leave out what should have "
        "been there by then."
    ),
    # Cheques of 1,420.00 and 386.25 and a deposit of 2,760.00. The refund of 318.40 of the 10th is not
    # outstanding but missing: nothing takes twenty days.
    right=Outstanding(
        entries=frozenset(
            {
                "ledger:line/2026-09-28/5130-2",
                "ledger:line/2026-09-29/5132-2",
                "ledger:line/2026-09-30/5133-1",
            }
        ),
        total=Decimal("953.75"),
    ),
    careful=_under_way,
    hasty=_whatever_the_bank_lacks,
    bank=(STATEMENT,),
    ledger=(GENERAL_LEDGER,),
)
