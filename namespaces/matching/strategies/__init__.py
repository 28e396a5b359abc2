"""How records are matched, one way a file; `STRATEGIES` has them in the order of how much they show."""

from ..match import Strategy
from .alike import alike
from .cancelled import cancelled
from .exact import same_day
from .groups import in_groups, in_named_groups
from .near import nearly_equal
from .outstanding import outstanding
from .reference import by_reference
from .settlement import settled_takings
from .share import at_another_rate, net_of_fee
from .subsets import adding_up, adding_up_alike
from .swapped_digits import with_swapped_digits
from .timing import within_window
from .wrong_sign import with_wrong_sign

__all__ = ["STRATEGIES"]

_TEXTS_AGREE: tuple[Strategy, ...] = (
    by_reference,
    alike,
    outstanding,
    cancelled,
    in_named_groups,
    with_wrong_sign,
    with_swapped_digits,
    at_another_rate,
    net_of_fee,
    settled_takings,
    adding_up_alike,
    in_groups,
)
_AMOUNTS_AGREE: tuple[Strategy, ...] = (same_day, within_window, in_groups, nearly_equal, adding_up)

STRATEGIES = (*_TEXTS_AGREE, *_AMOUNTS_AGREE)
"""Each takes from what those before it left. What texts show goes before what amounts alone show: an
amount that comes often would else be taken from the batch or the mistake that it truly belongs to."""
