"""Conversations as they come: parallel calls, errors, huge outputs, odd characters, skills, reasoning."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from offing.compaction.conversation import (
    Block,
    Conversation,
    Media,
    Message,
    Raw,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from offing.compaction.gauge import Counted
from offing.engine.limits import Room
from offing.engine.run_state import ActiveSkill
from offing.engine.state import State
from offing.engine.store.facts import Stored

WORDS = st.sampled_from([
    "Reconciled.", "9,350.00 GBP on 2026-09-14 [[bank:txn/8123]]", "I decided to leave it open.",
    "Überweisung an Łódź", "银行对账单", "🏦 \u200b", "a\n\n\nb", "[[calc:1.1]]", "result/1.1 has them",
])  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
OUTPUTS = st.one_of(
    TEXTS,
    st.just(""),
    st.integers(1, 120).map(lambda n: "".join(f"row {k}: {k * 7.31:.2f} GBP\n" for k in range(n))),
    st.integers(1, 2_500).map(lambda n: "x" * n),
    st.integers(1, 900).map(lambda n: "账" * n),
)


@dataclass
class Told:
    """A session in the making."""

    state: State = field(default_factory=lambda: State(room=Room(10_000, 1_000, 500)))
    turn: int = 0

    def add(self, *messages: Message) -> None:
        self.state.conversation.messages.extend(messages)


@st.composite
def batches(draw: st.DrawFn, told: Told) -> None:
    """A reply, and the results of its calls."""
    told.turn += 1
    calls = [
        ToolCall(f"{told.turn}.{n + 1}", name, {"n": n})
        for n, name in enumerate(
            draw(st.lists(st.sampled_from(["bank__look", "read", "search"]), max_size=4))
        )
    ]
    blocks: list[Block] = [Reasoning("hm")] if draw(st.booleans()) else []
    blocks += [Text(draw(TEXTS))] if draw(st.booleans()) or not calls else []
    raw = Raw("anthropic", "m", b"[]") if draw(st.booleans()) else None
    place = len(told.state.conversation.messages)
    if draw(st.booleans()):
        output = draw(st.integers(1, 900))
        told.state.written[place] = Counted(1, output, draw(st.integers(0, output)))
    told.add(Message("assistant", (*blocks, *calls), raw))
    if calls:
        told.add(Message("tool", tuple(draw(results(told, call)) for call in calls)))
        if draw(st.integers(0, 9)) == 0:
            told.state.skills[f"loaded{told.turn}"] = ActiveSkill("1", call=calls[-1].id)


@st.composite
def results(draw: st.DrawFn, told: Told, call: ToolCall) -> ToolResult:
    content = draw(OUTPUTS) or "(no output)"
    handle = None
    if draw(st.integers(0, 5)) == 0:
        handle = f"result/{call.id}"
        told.state.artifacts[handle] = Stored(handle, "0" * 64, 99_999, "text/plain")
    media = (Media("image/png", "AAAA", "scan.png"),) if draw(st.integers(0, 9)) == 0 else ()
    return ToolResult(call.id, content, draw(st.booleans()), media, handle)


@st.composite
def growth(draw: st.DrawFn, told: Told, most: int = 12) -> None:
    """What follows: iterations, messages of the user, notes, skills that the user names."""
    for _ in range(draw(st.integers(1, most))):
        match draw(st.sampled_from(["batch"] * 6 + ["user", "note", "skill"])):
            case "user":
                told.add(Message("user", (Text(draw(TEXTS)),)))
            case "note":
                told.add(Message("note", (Text(draw(TEXTS)),)))
            case "skill":
                place = len(told.state.conversation.messages)
                told.state.skills[f"named{place}"] = ActiveSkill("1", message=place)
                told.add(Message("note", (Text(f"<skill>{draw(OUTPUTS)}.</skill>"),)))
            case _:
                draw(batches(told))


@st.composite
def sessions(draw: st.DrawFn) -> Told:
    told = Told()
    told.add(Message("user", (Text(draw(TEXTS)),)))
    draw(growth(told))
    return told


def contents(conversation: Conversation) -> dict[str, str]:
    """What each call came to, as it was said."""
    return {result.call: result.content for each in conversation.messages for result in each.results}
