"""How strictly two accounts are compared, account by account."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class SubsetBounds:
    """How far the search for amounts that add up goes. What it leaves out is told as a finding."""

    candidates: int = 40
    """Most records that are tried for one sum, the nearest days first."""
    records: int = 12
    """Most records of one sum. A whole day or a whole batch may have more: there is nothing to choose."""
    steps: int = 100_000
    """Most combinations that are made for one sum."""
    all_steps: int = 4_000_000
    """Most combinations that are made and looked up for all sums of one search: some seconds of work."""


@dataclass(frozen=True, slots=True)
class AccountRule:
    """What is taken for the same movement on one account, and what is too small to be shown."""

    window_days: int = 5
    """Days between the bank's date and that of the books, either one first. 0: the same day only."""
    tolerance: Decimal = Decimal(0)
    """By how much the amounts may differ. 0: not at all."""
    materiality: Decimal = Decimal(0)
    """Items of less than this are counted and summed, not shown. 0: everything is material."""
    fee_share: Decimal = Decimal("0.05")
    """Most of an amount that may be a fee the bank took from it: 0.05 is 5 %. 0: no fee is looked for."""
    exchange_share: Decimal = Decimal("0.05")
    """Most of an amount that may be a difference of exchange. 0: none is looked for."""
    foreign: bool = False
    """True when the account takes payments in other currencies: then no text has to name one for a
    difference of exchange."""
    subset: SubsetBounds = SubsetBounds()

    def __post_init__(self) -> None:
        """Refuses what means nothing.

        Raises:
            ValueError: a number is negative, or a share is 1 or more; the message names it.
        """
        for name in ("window_days", "tolerance", "materiality", "fee_share", "exchange_share"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}: it cannot be less than 0")
        for name in ("fee_share", "exchange_share"):
            if getattr(self, name) >= 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}: a share is less than 1; 5 % is 0.05")
