"""An amount written as the other amounts of a file are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

_BODY = re.compile(r"[.,]?[0-9](?:.*[0-9])?")
_GROUPS = re.compile(r"[0-9]([.,' ])[0-9]{3}(?![0-9])")
_SPACES = str.maketrans("\u00a0\u202f\u2009\u2019", "   '")


@dataclass(frozen=True, slots=True)
class Style:
    """How the amounts of one file are written."""

    decimal: str
    """The decimal mark."""
    group: str
    """What stands between thousands; empty for nothing."""

    def digits(self, amount: Decimal, places: int) -> str:
        """The amount without its sign, with at least so many digits behind the mark."""
        whole, _, fraction = f"{abs(amount):f}".partition(".")
        fraction = (fraction if fraction.strip("0") else "").ljust(places, "0")
        grouped = f"{int(whole):,}".replace(",", self.group)
        return f"{grouped}{self.decimal}{fraction}" if fraction else grouped

    def like(self, sample: str, amount: Decimal) -> str:
        """The amount in the place of the digits of another one: sign, currency and suffix stay."""
        body = _BODY.search(sample)
        if body is None:
            return self.digits(amount, 2)
        _, mark, fraction = body[0].rpartition(self.decimal)
        digits = self.digits(amount, len(fraction) if mark else 0)
        return f"{sample[: body.start()]}{digits}{sample[body.end() :]}"


def style_of(samples: Iterable[str], decimal: str | None) -> Style:
    """The style of a file: its decimal mark, and the mark between thousands if any amount has one."""
    mark = decimal or "."
    for sample in samples:
        found = _GROUPS.search(sample.translate(_SPACES))
        if found is not None and found[1] != mark:
            return Style(mark, sample[found.start(1)])
    return Style(mark, "")
