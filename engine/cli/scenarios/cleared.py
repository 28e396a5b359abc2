"""A lookup: what cleared on one day."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from ...models.scripted import Playbook
from .scenario import Answer, RecordId, Scenario, asked, invoke
from .september import STATEMENT


class Cleared(Answer):
    """What one day brought."""

    movements: frozenset[RecordId]
    net: Annotated[Decimal, Field(description="Sum of the movements; money out is negative")]


async def _look(book: Playbook, request: str) -> str:
    found = await asked(book, invoke("bank", "list_transactions", **{"from": _DAY, "to": _DAY}))
    records = frozenset(each["record"] for each in found["transactions"])
    return Cleared(movements=records, net=Decimal(found["sums"]["GBP"])).model_dump_json()


_DAY = "2026-09-14"
SCENARIO = Scenario(
    name="cleared",
    question="What cleared through the operating account on 14 September 2026?",
    # VAT of 11,308.44 went out, card takings of 4,120.00 came in.
    right=Cleared(
        movements=frozenset({"bank:txn/2026-09-14/HV26090014", "bank:txn/2026-09-14/HV26090015"}),
        net=Decimal("-7188.44"),
    ),
    careful=_look,
    hasty=_look,
    bank=(STATEMENT,),
)
