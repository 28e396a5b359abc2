"""Where a search for sums stopped short, told so that a person can help it."""

from collections.abc import Sequence

from ...tool import Record
from ..match import Noted
from ..rule import AccountRule
from .amounts import WEIGHED, Weighed

_SHOWN_WAYS = 3


class Findings:
    """Collects what a search has to say of records that stay open; the first sentence of each counts."""

    def __init__(self, rule: AccountRule) -> None:
        self._narrower = f"give a window of less than {rule.window_days} days"
        self._told: dict[str, Noted] = {}

    def bounded(self, one: Record, *, candidates: int, tried: int, most: int, reached: int) -> None:
        """Notes a search that did not look at everything; nothing where it did."""
        if tried < candidates:
            says = f"there were {candidates} candidates for a sum, {tried} were looked at"
        elif reached < most:
            says = f"sums of up to {reached} of {candidates} records were looked through, not of {most}"
        else:
            return
        self._note(one, "searches for a sum were cut short", f"for {_shown(one)} {says}: {self._narrower}")

    def weighed(self, one: Record, around: Weighed) -> None:
        """Notes that there were more amounts near one than are weighed."""
        if around.is_cut:
            says = f"more than {WEIGHED} amounts of the books are near it, the first {WEIGHED} were looked at"
            self._note(one, "amounts had too many near them", f"for {_shown(one)} {says}: {self._narrower}")

    def spent(self, one: Record) -> None:
        """Notes that all the work of looking for sums was done before its turn."""
        says = "no sum was looked for, as the sums of others took all the work there is for it"
        self._note(one, "sums were not looked for", f"for {_shown(one)} {says}: {self._narrower}")

    def crowded(self, one: Record, candidates: int) -> None:
        """Notes that there were so many candidates that no sum was looked for."""
        says = f"there were {candidates} candidates, so many that some add up to it by chance"
        self._note(one, "sums were not looked for", f"for {_shown(one)} {says}: {self._narrower}")

    def ambiguous(self, one: Record, ways: Sequence[Sequence[Record]]) -> None:
        """Notes that several sums fit and nothing tells them apart."""
        named = "; ".join(map(_ids, ways[:_SHOWN_WAYS]))
        says = f"is the sum of other records in {len(ways)} ways and nothing tells them apart"
        self._note(one, "are sums in several ways", f"{_shown(one)} {says}, so it is left open: {named}")

    def wanted_twice(self, one: Record, records: Sequence[Record]) -> None:
        """Notes a sum whose records another sum needs as well."""
        says = f"is the sum of {_ids(records)}, and another amount is a sum of some of them too"
        self._note(one, "are sums that overlap", f"{_shown(one)} {says}, so it is left open")

    def by_chance(self, one: Record, records: Sequence[Record], candidates: int) -> None:
        """Notes the only sum among few records, which shows too little for a match."""
        says = f"is the sum of {_ids(records)}, as round amounts are of some of {candidates} by chance"
        self._note(one, "may be sums", f"{_shown(one)} {says}, so it is left open")

    def told(self) -> tuple[Noted, ...]:
        """All of it, by record."""
        return tuple(self._told[key] for key in sorted(self._told))

    def _note(self, one: Record, kind: str, says: str) -> None:
        self._told.setdefault(one.id, Noted(one.id, kind, says))


def _ids(records: Sequence[Record]) -> str:
    return ", ".join(each.id for each in records)


def _shown(one: Record) -> str:
    return f"{one.amount} of {one.date} ({one.id})"
