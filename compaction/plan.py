"""Planning a pass: one strategy after the other, until the view is small enough. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .draft import Draft, Scene
from .stretch import digest_oldest
from .stubs import stub_older, stub_unread

Strategy = Callable[[Draft], Draft]
"""Makes more room in a draft, and never less."""


class Stage(NamedTuple):
    """A strategy, and the size above which it is wanted."""

    strategy: Strategy
    wanted_above: Callable[[Scene], int]


STAGES: Sequence[Stage] = (
    Stage(stub_older, lambda scene: scene.target),
    Stage(digest_oldest, lambda scene: scene.target),
    Stage(stub_unread, lambda scene: scene.bound),
)


def plan(scene: Scene) -> Draft:
    """What is to leave the view. It may not be enough: then the run cannot go on in this window."""
    draft = Draft(scene)
    for stage in STAGES:
        if draft.total > stage.wanted_above(scene):
            draft = stage.strategy(draft)
    return draft
