"""A sum over a period that is neither the whole file nor one day."""

from decimal import Decimal

from ...models.scripted import Playbook
from .scenario import Answer, Json, RecordId, Scenario, asked, invoke
from .september import STATEMENT


class Takings(Answer):
    """What came in from card takings."""

    settlements: frozenset[RecordId]
    total: Decimal


async def _in_the_period(book: Playbook, request: str) -> str:
    period = {"from": "2026-09-07", "to": "2026-09-21"}
    found = await asked(book, invoke("bank", "list_transactions", text="card settlement", **period))
    records = [each["record"] for each in found["transactions"]]
    total = await book.call("calculate", expression="sum(takings)", inputs={"takings": records})
    return _answer(found, total.json["amount"])


async def _in_the_whole_file(book: Playbook, request: str) -> str:
    found = await asked(book, invoke("bank", "list_transactions", text="card settlement"))
    return _answer(found, found["sums"]["GBP"])


def _answer(found: Json, total: str) -> str:
    records = frozenset(each["record"] for each in found["transactions"])
    return Takings(settlements=records, total=Decimal(total)).model_dump_json()


SCENARIO = Scenario(
    name="takings",
    question="How much did card settlements bring in from 7 to 21 September 2026, both days included?",
    # 3,975.00 + 4,120.00 + 3,610.40; the fourth of the month came on the 28th.
    right=Takings(
        settlements=frozenset(
            {
                "bank:txn/2026-09-07/HV26090008",
                "bank:txn/2026-09-14/HV26090015",
                "bank:txn/2026-09-21/HV26090022",
            }
        ),
        total=Decimal("11705.40"),
    ),
    careful=_in_the_period,
    hasty=_in_the_whole_file,
    bank=(STATEMENT,),
)
