"""Making room: what a pass takes out of the view, done at the edge and given as one fact.

The plan is pure (`compaction/plan.py`). Here its sizes are measured, what leaves is stored, and the digest
is written. Nothing is changed before the fact is recorded: who is killed before that plans anew.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..compaction.conversation import Conversation, Placed, Stub, ToolCall, ToolResult
from ..compaction.draft import Draft, Entry, Scene
from ..compaction.encodings import encoding
from ..compaction.estimate import coarse, size
from ..compaction.plan import plan
from ..compaction.stubs import outcome
from ..compaction.told import operation, told
from .digesting import Source, Written, write_digest
from .prompts import prompt
from .run import Run
from .state import State
from .store.facts import Compacted, Stored
from .window import Compact, is_other_model

_READING = frozenset({"read", "search"})
"""Tools that bring back what had left: what they just gave is not taken away again."""


async def compact(run: Run, wanted: Compact) -> Compacted:
    """One pass. A digest that a model fails to write is written by rule; nothing else can fail.

    Raises:
        StoreError: what leaves the view could not be stored.
    """
    state = run.state
    draft = await asyncio.to_thread(planned, state, wanted, keeps_reasoning=run.means.effort.thinking.rebinds)
    stored = await _stored(run, draft)
    written = Written()
    if draft.cut:
        written = await write_digest(run, _source(state, draft))
    return Compacted(
        done=draft.made(written.text),
        why=wanted.why,
        before=wanted.used,
        after=_after(draft, written),
        stored=stored,
        writer=written.writer,
        problem=written.problem,
        calls=written.calls,
        usage=written.usage,
        cost=written.cost,
    )


def planned(state: State, wanted: Compact, *, keeps_reasoning: bool = False) -> Draft:
    """What is to leave the view. Pure, but that the first one loads an encoding; it may take a second.

    Sizes are counted by the encoding, where it is there, and scaled so that together they are what the
    view is known to be.
    """
    count = encoding() or coarse
    said, frame = state.conversation, 0 if state.room is None else state.room.frame
    sizes = {placed.place: size(placed.message, count) for placed in said.placed()}
    counted = {place: each.output for place, each in state.written.items() if place in sizes}
    rest = sum(each for place, each in sizes.items() if place not in counted)
    scale = max(0.3, (wanted.used - sum(counted.values())) / max(1, rest + frame))
    pins, files = _pins(state), _files(state)
    return plan(
        Scene(
            entries=tuple(_entry(state, placed, sizes, scale, pins) for placed in said.placed()),
            end=len(said.messages),
            frame=round(scale * frame),
            used=wanted.used,
            target=wanted.target,
            bound=wanted.bound,
            tokens=lambda text: round(scale * count(text)),
            stub=lambda call, result: _stub(call, result, files.get(call.id, [])),
            whole=_whole(state),
            keeps_reasoning=keeps_reasoning,
            is_other_model=is_other_model(state),
            digest=max(500, min(4_000, wanted.target // 8)),
        )
    )


def _entry(
    state: State, placed: Placed, sizes: Mapping[int, int], scale: float, pins: frozenset[int]
) -> Entry:
    place, message = placed
    stays = place >= 0 and (message.role == "user" or place in pins)
    visible = round(scale * sizes[place])
    counted = state.written.get(place)
    if counted is None:
        return Entry(place, message, visible, 0, stays)
    thinks = message.raw is not None or any(block.kind == "reasoning" for block in message.blocks)
    tokens = counted.output if thinks else max(1, counted.output - counted.reasoning)
    return Entry(place, message, tokens, counted.reasoning if thinks else 0, stays)


def _pins(state: State) -> frozenset[int]:
    """Places of the messages that active skills stand in, with the replies whose calls they came by."""
    calls = {skill.call for skill in state.skills.values() if skill.call}
    notes = {skill.message for skill in state.skills.values() if skill.message is not None}
    places = {
        at
        for at, message in enumerate(state.conversation.messages)
        if calls and any(result.call in calls for result in message.results)
    }
    return frozenset(notes | places | {at - 1 for at in places})


def _whole(state: State) -> frozenset[str]:
    """Calls whose results never become stubs."""
    said = state.conversation
    skills = {skill.call for skill in state.skills.values() if skill.call}
    gone = {stub.call for one in said.passes for stub in one.stubs}
    newest = next((at for at in range(len(said.messages) - 1, -1, -1) if said.messages[at].calls), None)
    read = () if newest is None else said.messages[newest].calls
    return frozenset(skills | gone | {call.id for call in read if call.name in _READING})


def _files(state: State) -> Mapping[str, Sequence[str]]:
    """By call, the handles of the files that it gave."""
    files: dict[str, list[str]] = {}
    for handle in state.artifacts:
        kind, _, rest = handle.partition("/")
        call, is_file, _ = rest.partition("/")
        if kind == "result" and is_file:
            files.setdefault(call, []).append(handle)
    return files


def _stub(call: ToolCall, result: ToolResult, files: Sequence[str]) -> Stub:
    handle = result.handle or f"result/{call.id}"
    text = prompt(
        "stub",
        what="error" if result.error else "result",
        call=call.id,
        tool=operation(call),
        size=f"{len(result.content):,}",
        handle=handle,
        more=f" Files: {', '.join(files)}." if files else "",
        outcome=outcome(result.content),
    )
    return Stub(call.id, text, handle)


@dataclass(frozen=True, slots=True)
class Leaving:
    """Bytes that leave the view, and the handle that they are read back with."""

    handle: str
    text: str


async def _stored(run: Run, draft: Draft) -> tuple[Stored, ...]:
    """Keeps what leaves the view and is not kept yet. Content-addressed: to do it twice changes nothing."""

    async def put(leaving: Leaving) -> Stored:
        data = leaving.text.encode()
        return Stored(leaving.handle, await run.store.artifacts.put(data), len(data), "text/plain")

    return tuple(await asyncio.gather(*map(put, leaving(run.state.conversation, draft))))


def leaving(said: Conversation, draft: Draft) -> Iterator[Leaving]:
    """What a pass takes out of the view and is not kept yet: results, and the stretch that is digested."""
    gone = {stub.call for one in said.passes for stub in one.stubs}
    stubbed = {each.stub.call for some in draft.stubs.values() for each in some}
    taken = {result.call for entry in draft.taken() for result in entry.message.results}
    for entry in draft.scene.entries:
        for result in said.messages[entry.place].results if entry.place >= 0 else ():
            if result.call in (stubbed | taken) - gone and result.handle is None:
                yield Leaving(f"result/{result.call}", result.content)
    first, reach = _stretch(said, draft)
    if first < reach:
        stretch = [Placed(place, said.messages[place]) for place in range(first, reach)]
        yield Leaving(_handle(first, reach), told(stretch))


def _stretch(said: Conversation, draft: Draft) -> tuple[int, int]:
    """The messages that a digest newly stands for, as places from and to."""
    if not draft.cut:
        return 0, 0
    digest = draft.made("").digest
    before = said.digest.reach if said.digest is not None else 0
    return before, digest.reach if digest is not None else before


def _handle(first: int, reach: int) -> str:
    return f"conversation/{first + 1}-{reach}"


def _source(state: State, draft: Draft) -> Source:
    """What the digest is to be written from."""
    said = state.conversation
    first, reach = _stretch(said, draft)
    known = [handle for handle in state.artifacts if handle.startswith("conversation/")]
    return Source(
        former=said.digest.text if said.digest is not None else "",
        said=tuple(
            Placed(place, message)
            for place, message in enumerate(said.messages[first:reach], first)
            if message.role != "note"
        ),
        last=reach,
        handles=(*known, _handle(first, reach)),
        most=draft.scene.digest,
        tokens=draft.scene.tokens,
    )


def _after(draft: Draft, written: Written) -> int:
    """Tokens of the view that the pass leaves, with the digest as it was written."""
    if draft.first == len(draft.scene.entries):
        return draft.scene.used
    spare = draft.scene.digest - draft.scene.tokens(written.text) if draft.cut else 0
    return max(1, min(draft.scene.used, draft.total - spare))
