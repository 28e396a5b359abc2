"""First strategy: older tool outputs become stubs, recent ones stay whole."""

from collections.abc import Sequence

from .draft import Candidate, Draft, candidates

LINES = 3
"""Lines of an outcome that a stub shows."""
_LINE = 160
"""Characters of such a line."""


def stub_older(draft: Draft) -> Draft:
    """The oldest results that are whole become stubs, one by one, until the target is reached."""
    return _first_ones(draft, list(candidates(draft, 0, draft.scene.recent)), draft.scene.target)


def stub_unread(draft: Draft) -> Draft:
    """Last resort: the largest of the newest results become stubs, until the view can be sent."""
    newest = list(candidates(draft, draft.scene.recent, len(draft.scene.entries)))
    return _first_ones(draft, sorted(newest, key=lambda each: -each.gain), draft.scene.bound)


def _first_ones(draft: Draft, in_order: Sequence[Candidate], target: int) -> Draft:
    """The first of them that are enough; all of them when none are."""
    if not in_order:
        return draft
    first = min(each.at for each in in_order)
    left = draft.total - target - _thought(draft, first)
    chosen: list[Candidate] = []
    for each in in_order:
        if left <= 0 and chosen:
            break
        chosen.append(each)
        left -= each.gain
    return draft.with_stubs(chosen)


def _thought(draft: Draft, first: int) -> int:
    """Reasoning that goes once entry `first` changes."""
    if draft.scene.keeps_reasoning:
        return 0
    return sum(
        draft.scene.entries[at].thought for at in range(first, min(draft.first, len(draft.scene.entries)))
    )


def outcome(text: str) -> str:
    """What a result came to, in up to three lines: its first ones that say something."""
    said = [line for line in map(_short, text.splitlines()) if line]
    more = "\n..." if len(said) > LINES else ""
    return "\n".join(said[:LINES]) + more


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 3]}..."
