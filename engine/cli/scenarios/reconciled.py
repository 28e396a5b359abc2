"""The reconciliation of the demo's month, as the playbooks of several scenarios read it."""

from collections.abc import Iterable

from ...models.scripted import Playbook
from .scenario import Json, asked, invoke


async def september(book: Playbook) -> Json:
    """The bank account against its account in the books, September 2026."""
    return await asked(
        book,
        invoke(
            "matching",
            "reconcile",
            bank_account="55120944",
            ledger_account="1200",
            **{"from": "2026-09-01", "to": "2026-09-30"},
        ),
    )


def records(items: Iterable[Json]) -> frozenset[str]:
    """Their ids."""
    return frozenset(each["record"] for each in items)
