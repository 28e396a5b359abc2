"""Second strategy: the oldest stretch becomes a digest."""

from dataclasses import replace

from .draft import Draft


def digest_oldest(draft: Draft) -> Draft:
    """Takes the oldest messages, whole batches with their calls, until the target is reached.

    Recent results are left alone, and what stays is passed over. What an earlier digest stands for is taken
    again, so that there is one digest at any time. A stretch that is shorter than a digest is left.
    """
    entries, scene = draft.scene.entries, draft.scene
    first = next((at for at, entry in enumerate(entries) if not entry.stays), len(entries))
    left = replace(draft, cut=0).total + scene.digest - scene.target
    if not scene.keeps_reasoning:
        left -= sum(entry.thought for entry in entries[first : draft.first])
    cut, is_new = 0, False
    for at in range(first, scene.recent):
        if not entries[at].stays:
            left -= draft.left(at, first)
            is_new = is_new or entries[at].place >= 0
        if is_new and not _splits(draft, at + 1):
            cut = at + 1
            if left <= 0:
                break
    made = replace(draft, cut=cut)
    return made if cut and made.total < draft.total else draft


def _splits(draft: Draft, cut: int) -> bool:
    """Whether a cut there would part calls from their results."""
    return cut < len(draft.scene.entries) and bool(draft.scene.entries[cut].message.results)
