"""Why two balances differ: every item of the difference, each on its side."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from ...models.scripted import Playbook
from .reconciled import records, september
from .scenario import Answer, RecordId, Scenario
from .september import GENERAL_LEDGER, STATEMENT


class Explained(Answer):
    """A difference, item by item."""

    bank: Annotated[Decimal, Field(description="The bank's balance")]
    books: Annotated[Decimal, Field(description="The books' balance")]
    difference: Annotated[Decimal, Field(description="The bank's balance less the books'")]
    under_way: Annotated[
        frozenset[RecordId], Field(description="Lines of the books that may still reach the bank")
    ]
    not_in_books: Annotated[
        frozenset[RecordId], Field(description="Transactions of the bank that the books lack")
    ]
    not_at_bank: Annotated[
        frozenset[RecordId],
        Field(description="Lines of the books that should have reached the bank and have not"),
    ]


async def _explain(book: Playbook, request: str) -> str:
    done = await september(book)
    balances = done["balances"]
    return Explained(
        bank=Decimal(balances["bank"]["value"]),
        books=Decimal(balances["books"]["value"]),
        difference=Decimal(balances["difference"]["value"]),
        under_way=records(done["timing"]["items"]),
        not_in_books=records(
            item for group in ("missing_in_books", "fee", "interest") for item in done[group]["items"]
        ),
        not_at_bank=records(done["missing_at_bank"]["items"]),
    ).model_dump_json()


SCENARIO = Scenario(
    name="difference",
    question=(
        "Why does the operating account not tie at 30 September 2026? Explain the whole difference "
        "between the bank and the books."
    ),
    # 42,186.72 - 43,445.50 = -1,258.78, which is 1,420.00 + 386.25 - 2,760.00 under way, 41.87 - 28.50
    # that the books lack, and 318.40 that the bank lacks.
    right=Explained(
        bank=Decimal("42186.72"),
        books=Decimal("43445.50"),
        difference=Decimal("-1258.78"),
        under_way=frozenset(
            {
                "ledger:line/2026-09-28/5130-2",
                "ledger:line/2026-09-29/5132-2",
                "ledger:line/2026-09-30/5133-1",
            }
        ),
        not_in_books=frozenset({"bank:txn/2026-09-30/HV26090030", "bank:txn/2026-09-30/HV26090031"}),
        not_at_bank=frozenset({"ledger:line/2026-09-10/5112-1"}),
    ),
    careful=_explain,
    hasty=_explain,
    bank=(STATEMENT,),
    ledger=(GENERAL_LEDGER,),
)
