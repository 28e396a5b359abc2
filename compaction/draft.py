"""A pass in the making: the view with its sizes, and what was decided so far to leave it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .conversation import Digest, Message, Pass, Stub, ToolCall, ToolResult


class Entry(NamedTuple):
    """A message of the view. Sizes are in the model's tokens."""

    place: int
    """In the conversation, from 0; -1 for the digest of an earlier pass."""
    message: Message
    tokens: int
    thought: int = 0
    """Of these, reasoning, which goes when anything before it changes."""
    stays: bool = False
    """Whether no digest may take it: what the user said, and active skills with the calls they came by."""


class Candidate(NamedTuple):
    """A result that can become a stub."""

    at: int
    """Which entry it is in."""
    stub: Stub
    gain: int
    """Tokens that it would free."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a pass is planned over."""

    entries: tuple[Entry, ...]
    end: int
    """Messages of the conversation."""
    frame: int
    """Tokens of what stands before the messages."""
    used: int
    """Tokens of the view as it is."""
    target: int
    """Tokens that the view is to come down to."""
    bound: int
    """Tokens that it has to stay below: only for that, what was not read yet becomes a stub."""
    tokens: Callable[[str], int]
    stub: Callable[[ToolCall, ToolResult], Stub]
    whole: frozenset[str] = frozenset()
    """Calls whose results never become stubs: those of active skills, those that are stubs already, and what
    was just read back."""
    keeps_reasoning: bool = False
    """Whether reasoning stays, since the provider itself leaves out what is bound to another prefix."""
    is_other_model: bool = False
    """Whether reasoning goes throughout: it is another model's."""
    digest: int = 2_000
    """Tokens that a digest may have."""

    @property
    def recent(self) -> int:
        """Which entry the recent ones begin with: the newest results, up to a quarter of the target."""
        left = self.target / 4
        place = len(self.entries)
        for at in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[at]
            left -= entry.tokens
            if left < 0 and place < len(self.entries):
                return place
            if entry.message.results:
                place = at - 1
        return place


@dataclass(frozen=True, slots=True)
class Draft:
    """What is to leave the view."""

    scene: Scene
    stubs: Mapping[int, tuple[Candidate, ...]] = field(default_factory=dict[int, tuple[Candidate, ...]])
    """By entry, in order."""
    cut: int = 0
    """Entries, from the first on, that a digest takes the place of, but for those that stay."""

    @property
    def first(self) -> int:
        """The first entry that changes; one past the last when none does."""
        entries = self.scene.entries
        if self.scene.is_other_model:
            return 0
        taken = (at for at in range(self.cut) if not entries[at].stays)
        return min([*self.stubs, *taken], default=len(entries))

    @property
    def total(self) -> int:
        """Tokens of the view that it leaves, frame included."""
        first, digest = self.first, self.scene.digest if self.cut else 0
        left = (self.left(at, first) for at in range(len(self.scene.entries)) if not self.is_taken(at))
        return self.scene.frame + digest + sum(left)

    def left(self, at: int, first: int) -> int:
        """Tokens that an entry has left when the first one to change is `first`."""
        entry = self.scene.entries[at]
        thought = entry.thought if at >= first and not self.scene.keeps_reasoning else 0
        return entry.tokens - thought - sum(each.gain for each in self.stubs.get(at, ()))

    def is_taken(self, at: int) -> bool:
        """Whether a digest takes the place of an entry."""
        return at < self.cut and not self.scene.entries[at].stays

    def taken(self) -> Iterator[Entry]:
        """The entries that a digest takes the place of, in order."""
        return (self.scene.entries[at] for at in range(self.cut) if self.is_taken(at))

    def with_stubs(self, more: list[Candidate]) -> "Draft":
        """With further results as stubs."""
        stubs = dict(self.stubs)
        for each in more:
            stubs[each.at] = (*stubs.get(each.at, ()), each)
        return Draft(self.scene, dict(sorted(stubs.items())), self.cut)

    def made(self, text: str) -> Pass:
        """The pass; `text` is the digest, where there is one."""
        entries, end = self.scene.entries, self.scene.end
        stubs = (each.stub for at, some in self.stubs.items() if not self.is_taken(at) for each in some)
        digest = None
        if self.cut:
            stays = tuple(entry.place for entry in entries[: self.cut] if entry.stays)
            reach = entries[self.cut].place if self.cut < len(entries) else end
            digest = Digest(text, reach, stays)
        return Pass(end, tuple(stubs), digest, self._bare_from())

    def _bare_from(self) -> int | None:
        """From which message on reasoning goes."""
        entries, first = self.scene.entries, self.first
        if self.scene.keeps_reasoning or first == len(entries):
            return None
        if entries[first].place >= 0:
            return entries[first].place
        return entries[first + 1].place if first + 1 < len(entries) else self.scene.end


def candidates(draft: Draft, start: int, stop: int) -> Iterator[Candidate]:
    """The results of entries `start` to `stop` that would take less room as stubs, oldest first."""
    scene = draft.scene
    for at in range(start, stop):
        results = scene.entries[at].message.results
        if not results or draft.is_taken(at):
            continue
        known = {each.stub.call for each in draft.stubs.get(at, ())}
        calls = {call.id: call for call in scene.entries[at - 1].message.calls}
        for result in results:
            if result.call not in scene.whole and result.call not in known:
                yield from _worth_it(scene, at, calls[result.call], result)


_LEAST_GAIN = 40
"""Tokens that a stub has to free."""


def _worth_it(scene: Scene, at: int, call: ToolCall, result: ToolResult) -> Iterator[Candidate]:
    media = 1_600 * len(result.media)
    least = scene.tokens(result.content) + media
    if least <= _LEAST_GAIN:
        return
    stub = scene.stub(call, result)
    gain = least - scene.tokens(stub.text)
    if gain >= _LEAST_GAIN:
        yield Candidate(at, stub, gain)
