"""Passes over conversations of any kind: what may leave the view, what has to stay, and what it comes to."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations import Told, contents, growth, sessions
from offing.compaction.conversation import Conversation, Message, Pass, folded, unpaired
from offing.compaction.draft import Draft
from offing.engine.compacting import leaving, planned
from offing.engine.models.scripted import Scripted
from offing.engine.store.codec import decode, encode
from offing.engine.store.facts import Compacted, Stored
from offing.engine.window import Compact, used
from offing.engine.wire import HEAD, Wire

FEW = settings(max_examples=20)
TARGETS = st.sampled_from([200, 800, 2_000, 5_000, 20_000])


Views: TypeAlias = tuple[Sequence[Message], Sequence[Message]]
"""The view before a pass and the one after it."""
Made: TypeAlias = tuple[Told, list[Views]]


def one_pass(told: Told, target: int, *, keeps_reasoning: bool = False) -> Draft:
    """Plans a pass and takes it into the conversation; stands in for the digest with a few words."""
    state = told.state
    wanted = Compact("full", max(1, used(state)), target, target * 2)
    draft = planned(state, wanted, keeps_reasoning=keeps_reasoning)
    for each in leaving(state.conversation, draft):
        state.artifacts[each.handle] = Stored(each.handle, each.text, len(each.text.encode()), "text/plain")
    made = draft.made("(digest)")
    state.conversation.passes.append(made)
    state.gauge = state.gauge.compacted(max(1, draft.total), made.end)
    return draft


@st.composite
def passed(draw: st.DrawFn) -> Made:
    """A session with some passes."""
    told, views = draw(sessions()), list[Views]()
    for _ in range(draw(st.integers(1, 3))):
        before = told.state.conversation.view()
        one_pass(told, draw(TARGETS))
        views.append((before, told.state.conversation.view()))
        draw(growth(told, 6))
    return told, views


@FEW
@given(passed())
def test_pairs_and_batches_stay_whole(made: Made) -> None:
    told, _ = made
    view = told.state.conversation.view()
    assert list(unpaired(view)) == []
    calls = [call.id for message in view for call in message.calls]
    results = [result.call for message in view for result in message.results]
    assert calls == results
    assert len(set(results)) == len(results)


@FEW
@given(passed())
def test_what_the_user_said_stays_verbatim_and_in_order(made: Made) -> None:
    told, _ = made
    said = told.state.conversation
    assert [each for each in said.view() if each.role == "user"] == [
        each for each in said.messages if each.role == "user"
    ]


@FEW
@given(passed())
def test_active_skills_stay_where_the_model_can_read_them(made: Made) -> None:
    told, _ = made
    said = told.state.conversation
    view = said.view()
    shown = {result.call: result for message in view for result in message.results}
    for skill in told.state.skills.values():
        if skill.message is not None:
            assert said.messages[skill.message] in view
        else:
            assert shown[skill.call].content == contents(said)[skill.call]


@FEW
@given(passed())
def test_what_left_the_view_is_kept_byte_for_byte_under_the_handle_that_is_shown(made: Made) -> None:
    told, _ = made
    said, artifacts = told.state.conversation, told.state.artifacts
    whole = contents(said)
    shown = {result.call: result for message in said.view() for result in message.results}
    for message in said.messages:
        for result in message.results:
            if result.call in shown and shown[result.call].content == result.content:
                continue
            handle = result.handle or f"result/{result.call}"
            assert handle in artifacts
            assert result.handle or artifacts[handle].ref == whole[result.call]
            assert result.call not in shown or handle in shown[result.call].content
    digest = said.digest
    reached = [each for each in artifacts if each.startswith("conversation/")]
    ranges = [tuple(map(int, each.removeprefix("conversation/").split("-"))) for each in reached]
    assert [n for first, last in ranges for n in range(first, last + 1)] == list(
        range(1, (digest.reach if digest else 0) + 1)
    )


@FEW
@given(passed())
def test_reasoning_behind_the_first_changed_message_goes_in_the_same_pass(made: Made) -> None:
    _, views = made
    for before, after in views:
        same = next(
            (at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None
        )
        for message in after[same:] if same is not None else ():
            assert message.raw is None
            assert all(block.kind != "reasoning" for block in message.blocks)


@FEW
@given(passed())
def test_messages_are_never_changed_and_the_same_passes_give_the_same_view(made: Made) -> None:
    told, _ = made
    said = told.state.conversation
    messages = deepcopy(said.messages)
    again = Conversation(messages, [recorded(each) for each in said.passes])
    assert again.view() == said.view()
    assert said.messages == messages
    assert folded(messages, said.passes) == folded(said.messages, said.passes)


def recorded(done: Pass) -> Pass:
    """As it comes back from a journal."""
    fact = decode(encode(Compacted(done, "full", 1, 1)))
    assert isinstance(fact, Compacted)
    return fact.done


@FEW
@given(passed(), st.data())
def test_between_passes_the_view_only_grows(made: Made, data: st.DataObject) -> None:
    told, _ = made
    before = told.state.conversation.view()
    data.draw(growth(told))
    assert told.state.conversation.view()[: len(before)] == before


@FEW
@given(passed())
def test_a_pass_encodes_anew_from_the_first_changed_segment_alone(made: Made) -> None:
    told, _ = made
    said, model = told.state.conversation, Scripted(())
    wire, passes = Wire(model, [b"static", b"context"]), list(said.passes)
    for place, done in enumerate((*passes, None)):
        end = len(said.messages) if done is None else done.end
        before = list(wire.segments)
        request = wire.request(Conversation(said.messages[:end], passes[:place]), 1)
        fresh = Wire(model, [b"static", b"context"])
        assert (
            request.segments == fresh.request(Conversation(said.messages[:end], passes[:place]), 1).segments
        )
        assert wire.digest == fresh.digest
        kept = [old is new for old, new in zip(before, request.segments, strict=False)]
        assert kept[:HEAD] == [True] * HEAD
        assert kept == sorted(kept, reverse=True)


@FEW
@given(sessions(), TARGETS)
def test_it_comes_below_the_target_or_everything_that_may_leave_has_left(told: Told, target: int) -> None:
    draft = one_pass(told, target)
    entries, scene = draft.scene.entries, draft.scene
    if draft.total <= scene.target:
        return
    for at in range(scene.recent):
        entry = entries[at]
        spared = entry.stays or draft.is_taken(at) or draft.stubs.get(at)
        small = all(scene.tokens(result.content) < 200 for result in entry.message.results)
        assert spared or small or not entry.message.results


@FEW
@given(sessions(), TARGETS)
def test_planning_is_pure(told: Told, target: int) -> None:
    again = deepcopy(told)
    first, second = one_pass(told, target), one_pass(again, target)
    assert first.made("d") == second.made("d")
    assert told.state.conversation.view() == again.state.conversation.view()


@FEW
@given(sessions(), TARGETS)
def test_what_was_just_read_back_is_not_taken_away_in_the_same_breath(told: Told, target: int) -> None:
    one_pass(told, target)
    said = told.state.conversation
    newest = next((each for each in reversed(said.messages) if each.calls), None)
    shown = {result.call: result.content for message in said.view() for result in message.results}
    for call in newest.calls if newest is not None else ():
        if call.name in {"read", "search"}:
            assert shown[call.id] == contents(said)[call.id]


@FEW
@given(sessions(), TARGETS)
def test_where_the_provider_drops_unbound_thinking_replies_stay_as_they_came(told: Told, target: int) -> None:
    one_pass(told, target, keeps_reasoning=True)
    said = told.state.conversation
    assert said.passes[-1].bare_from is None
    for place, message in said.placed():
        if message.role == "assistant":
            assert message == said.messages[place]


def test_a_pass_that_changes_nothing_is_no_news() -> None:
    assert not Pass(3).is_felt
    assert not replace(Pass(3), bare_from=1).is_felt
