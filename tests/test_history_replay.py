"""Each request of a run can be made again from its journal, offline, byte for byte as it was sent."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from histories import BANK, STEPS, looking, posting, worked
from loopback import Answer, Attempts, HttpError, Loopback, Reply, Text, Thinking, ToolUse
from offing.engine import Engine, Limits, Scripted, SqliteStore, Step
from offing.engine.errors import NotFound
from offing.engine.history import MessageEdit, Replayed, ResultEdit, replay
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.litellm import LiteLLMModel
from offing.engine.models.scripted import Call
from offing.engine.store.journal import Scope
from offing.engine.wire import Wire
from offing.skills import SkillFolders
from skill_files import write
from test_session import CALLING, Gate
from worlds import MODEL, Claude, HandClock, outside

pytestmark = pytest.mark.anyio

OFFLINE = AnthropicModel(MODEL, SecretStr("none"), base_url="http://127.0.0.1:9")
"""The same model without a key and without a server."""


def use(call: Call) -> ToolUse:
    return ToolUse(call.name, dict(call.arguments))


class Total(BaseModel):
    total: int


REPLIES: Sequence[Reply | Attempts] = [
    Answer([Thinking("Both."), Text("I look."), use(looking("a")), use(looking("b"))]),
    Attempts(
        [HttpError(529, "overloaded_error"), Answer([use(posting(5)), use(looking("c")), use(posting(-1))])]
    ),
    Answer([use(Call("load_skill", {"name": "close"}))]),
    Answer([Text("It comes to 77.00 GBP.")]),
    Answer([Text("It comes to 12.50 GBP [[bank:txn/a]].")]),
    Answer([Text("twelve")]),
    Answer([Text('{"total": 12}')]),
]
"""Parallel calls, a fault, an error, a skill, an answer in doubt, and one that is not of the wanted type."""


async def replayed(scope: Scope, *runs: str) -> list[Replayed]:
    return [one for run in runs async for one in replay(scope, run, OFFLINE)]


async def test_what_the_server_got_is_what_replay_makes(tmp_path: Path) -> None:
    write(tmp_path / "close")
    write(tmp_path / "count")
    skills, clock = SkillFolders([tmp_path], shipped=False), HandClock()
    with Loopback(REPLIES) as server:
        async with Engine(Claude(server), [BANK], skills=skills, outside=outside(clock)) as engine:
            session = engine.session("s")
            await session.ask("Go. /count")
            clock.at += 86_400_000_000
            await session.ask("And the total?", output=Total)
            again = await replayed(engine.store, "s.1", "s.2")
        assert [one.body for one in again] == [seen.body for seen in server.requests]
    assert [one.is_equal for one in again] == [True, None, *[True] * 6]
    assert [one.iteration for one in again] == [1, 2, 2, 3, 4, 5, 1, 2]


async def test_what_was_sent_before_and_after_an_interruption_is_made_again(tmp_path: Path) -> None:
    path, gate = tmp_path / "journal.db", Gate()
    replies = [
        Answer([use(call) for call in step.calls] if isinstance(step, Step) else [Text(step)])
        for step in CALLING
    ]
    with Loopback(replies) as server:
        engine = Engine(Claude(server), [gate.namespace], store=SqliteStore(path), outside=outside())
        async with engine.session("s").run("Go.") as run:
            await gate.at_work.wait()
        await engine.close()
        again = Gate()
        again.let_go.set()
        store = SqliteStore(path)
        async with Engine(Claude(server), [again.namespace], store=store, outside=outside()) as other:
            assert (await (await other.resume(run.id)).result()).answered
            made = await replayed(other.store, run.id)
        assert [one.body for one in made] == [seen.body for seen in server.requests]
    assert [one.is_equal for one in made] == [True, True]


async def test_what_a_stopped_run_sent_after_it_went_on_is_made_again() -> None:
    replies = [
        Answer([use(looking("a"))]),
        Answer([Text("So far")], stop_reason="max_tokens"),
        Answer([Text("Done.")]),
    ]
    with Loopback(replies) as server:
        limits = Limits(iterations=2)
        async with Engine(Claude(server), [BANK], limits=limits, outside=outside()) as engine:
            assert (await engine.session("s").ask("Go.")).why == "limit"
            assert (await (await engine.resume("s.1")).result()).answered
            made = await replayed(engine.store, "s.1")
        assert [one.body for one in made] == [seen.body for seen in server.requests]


async def test_a_fork_sends_what_replay_makes_of_it() -> None:
    replies = [Answer([use(looking("a"))]), Answer([Text("So.")])]
    with Loopback(replies) as server:
        async with Engine(Claude(server), [BANK], outside=outside()) as engine:
            await engine.session("s").ask("Go.")
            await engine.fork("s.1", at=0, edit=MessageEdit("Stop."), session="f")
            await engine.fork("s.1", at=1, edit=ResultEdit("1.1", "nothing"), session="g")
            for run in ("f.1", "g.1"):
                await (await engine.resume(run)).result()
            made = await replayed(engine.store, "s.1", "f.1")
            other = (await replayed(engine.store, "g.1"))[1:]
        assert [one.body for one in [*made, *other]] == [seen.body for seen in server.requests]


async def test_a_prompt_that_was_another_is_told() -> None:
    async with worked() as engine:
        same = [one.is_equal async for one in replay(engine.store, "s.1", Scripted(()))]
        other = [one.is_equal async for one in replay(engine.store, "s.1", OFFLINE)]
    assert (same, other) == ([True] * 4, [False] * 4)


async def test_a_model_that_does_not_show_its_bodies_gives_the_parts_of_the_prompt() -> None:
    async with worked() as engine:
        model = LiteLLMModel("openai/gpt-5.6")
        first, *_ = [one async for one in replay(engine.store, "s.1", model)]
    assert first.body == b"".join(part + b"\n" for part in first.request.segments)
    assert len(first.request.segments) == 3


@pytest.mark.parametrize("run", ["s.9", "t.1", "s"])
async def test_a_run_that_is_not_there_is_told(run: str) -> None:
    async with worked(steps=STEPS) as engine:
        with pytest.raises(NotFound):
            await replayed(engine.store, run)


@given(st.lists(st.tuples(st.binary(max_size=3), st.booleans()), min_size=2))
def test_a_digest_does_not_depend_on_when_it_was_looked_at(parts: list[tuple[bytes, bool]]) -> None:
    wire = Wire(Scripted(()), [])
    for part, is_looked_at in parts:
        wire.segments.append(part)
        if is_looked_at:
            assert len(wire.digest) == 64
    assert wire.digest == Wire(Scripted(()), [part for part, _ in parts]).digest


@given(st.lists(st.binary(max_size=3), min_size=1), st.lists(st.binary(max_size=3), min_size=1))
def test_prompts_of_other_parts_have_other_digests(left: list[bytes], right: list[bytes]) -> None:
    model = Scripted(())
    assert (Wire(model, left).digest == Wire(model, right).digest) == (left == right)
