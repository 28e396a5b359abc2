"""A payment that was made twice, beside two that only look like one."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ...models.scripted import Playbook
from .scenario import Answer, Json, RecordId, Scenario, asked, invoke


class PaidTwice(Answer):
    """One debt, paid twice."""

    payments: Annotated[frozenset[RecordId], Field(description="The two transactions of the bank")]
    to_recover: Annotated[Decimal, Field(description="What was paid too much, without sign")]


async def _against_the_books(book: Playbook, request: str) -> str:
    paid, booked = await book.calls(
        invoke("bank", "list_transactions", direction="out"),
        invoke("ledger", "get_gl_detail", account="1200"),
    )
    entered = [each["amount"] for each in booked.json["lines"]]
    at_bank: Sequence[Json] = paid.json["transactions"]
    amounts = [each["amount"] for each in at_bank]
    twice = next(amount for amount in amounts if amounts.count(amount) > entered.count(amount))
    return _answer([each for each in at_bank if each["amount"] == twice])


async def _the_first_two_alike(book: Playbook, request: str) -> str:
    paid = await asked(book, invoke("bank", "list_transactions", direction="out"))
    at_bank: Sequence[Json] = paid["transactions"]
    amounts = [each["amount"] for each in at_bank]
    twice = next(amount for amount in amounts if amounts.count(amount) > 1)
    return _answer([each for each in at_bank if each["amount"] == twice])


def _answer(payments: Sequence[Json]) -> str:
    return PaidTwice(
        payments=frozenset(each["record"] for each in payments),
        to_recover=abs(Decimal(payments[0]["amount"])),
    ).model_dump_json()


_HERE = Path(__file__).parent
SCENARIO = Scenario(
    name="paid-twice",
    question="A debt was paid twice in October 2026. Which two payments, and how much is to come back?",
    # Invoice 7790 of Pemberton Sawmills, on the 6th and the 13th, once in the books. The couriers' two
    # payments of 75.00 are for two jobs, and both are in the books.
    right=PaidTwice(
        payments=frozenset({"bank:txn/2026-10-06/L5", "bank:txn/2026-10-13/L8"}),
        to_recover=Decimal("6480.00"),
    ),
    careful=_against_the_books,
    hasty=_the_first_two_alike,
    bank=(_HERE / "october_statement.csv",),
    ledger=(_HERE / "october_ledger.csv",),
    currency="GBP",
)
