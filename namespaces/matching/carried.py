"""What one period leaves open and the next one begins with."""

from dataclasses import dataclass

from ..records import Term
from ..tool import Record


@dataclass(frozen=True, slots=True)
class Carried:
    """The open items of the period before, side by side; each record once."""

    bank: tuple[Record, ...] = ()
    """At the bank, and not or otherwise in the books."""
    books: tuple[Record, ...] = ()
    """In the books, and not or otherwise at the bank."""

    def __bool__(self) -> bool:
        return bool(self.bank or self.books)

    @property
    def ids(self) -> frozenset[str]:
        """Of all records."""
        return frozenset(record.id for record in (*self.bank, *self.books))

    @property
    def terms(self) -> list[Term]:
        """What the items add to the bank's balance less the books'."""
        return [*(Term(1, each) for each in self.bank), *(Term(-1, each) for each in self.books)]
