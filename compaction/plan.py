"""Planning a pass: one strategy after the other, until the view is small enough. Pure."""

from collections.abc import Callable, Sequence

from .draft import Draft, Scene
from .stretch import digest_oldest
from .stubs import stub_older, stub_unread

Strategy = Callable[[Draft], Draft]
"""Makes more room in a draft, and never less."""

USUAL: Sequence[Strategy] = (stub_older, digest_oldest)
"""Those that bring the view down to the target, in this order."""


def plan(scene: Scene) -> Draft:
    """What is to leave the view. It may not be enough: then the run cannot go on in this window."""
    draft = Draft(scene)
    for strategy in USUAL:
        if draft.total > scene.target:
            draft = strategy(draft)
    return stub_unread(draft) if draft.total > scene.bound else draft
