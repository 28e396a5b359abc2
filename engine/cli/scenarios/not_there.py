"""A trap: what is asked for is not in the data, and something like it is."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from ...models.scripted import Playbook
from .scenario import Answer, Scenario, asked, invoke
from .september import GENERAL_LEDGER, STATEMENT


class Paid(Answer):
    """What was paid to somebody."""

    is_there: Annotated[bool, Field(description="Whether the data say anything of it")]
    amount: Annotated[Decimal | None, Field(description="What was paid in all; null when it is not there")]


async def _look_on_both_sides(book: Playbook, request: str) -> str:
    at_bank, in_books = await book.calls(
        invoke("bank", "list_transactions", text="ferriby"),
        invoke("ledger", "get_gl_detail", account="1200", text="ferriby"),
    )
    found = at_bank.json["total"] + in_books.json["total"]
    return Paid(is_there=found > 0, amount=None).model_dump_json()


async def _take_what_is_like_it(book: Playbook, request: str) -> str:
    found = await asked(book, invoke("bank", "list_transactions", text="joinery"))
    return Paid(is_there=True, amount=Decimal(found["sums"]["GBP"])).model_dump_json()


SCENARIO = Scenario(
    name="not-there",
    question="How much was paid to Ferriby Joinery Supplies in September 2026?",
    # There is no such payee. Meridian Joinery Ltd is a customer, whose money came in.
    right=Paid(is_there=False, amount=None),
    careful=_look_on_both_sides,
    hasty=_take_what_is_like_it,
    bank=(STATEMENT,),
    ledger=(GENERAL_LEDGER,),
)
