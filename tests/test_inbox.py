"""What people say reaches a run once, in its place, whoever drives it and whenever it is said."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopback import Answer as Reply200
from loopback import Loopback, ToolUse, in_order
from loopback import Text as Words
from offing.compaction.conversation import Message, Text, unpaired
from offing.engine import Call, Engine, MemoryStore, Scripted, Session, SqliteStore, Step
from offing.engine.errors import ConfigurationError, NotOpen
from offing.engine.events import PostRefused, QuestionAnswered, QuestionAsked, event_of
from offing.engine.inbox import Inbox
from offing.engine.models.model import Delta, Reply, Request
from offing.engine.store.inbox import Posting, Say, SentFile, posting
from offing.engine.store.people import Answered, Posted, Questioned, Refused, Said
from offing.namespaces import Attachment, Effect, FunctionNamespace, Tool, tool
from people import LOOK, People, pay, resumed
from worlds import Claude, HandClock, outside

NOW = HandClock().at
WHICH = Call("ask_user", {"question": "Which month?", "options": ["August", "September"]})


def user(text: str) -> Message:
    return Message("user", (Text(text),))


async def said(people: People, text: str) -> None:
    """Somebody in another process says something."""
    await Inbox(people.store.scoped("local"), people.clock).say("s.1", text, by="ann")


async def roles(people: People) -> list[str]:
    """The conversation, a word a message: its role, and what was said by users and in results."""
    return [_told(message) for message in (await people.state()).conversation.messages]


def _told(message: Message) -> str:
    if message.role == "tool":
        return f"tool {','.join(result.content for result in message.results)}"
    return f"user {message.text}" if message.role == "user" else message.role


def telling(people: People, name: str = "look", texts: tuple[str, ...] = ("And the fees?",)) -> Tool:
    """A tool at whose work somebody says something to the run."""

    async def look() -> str:
        """Looks."""
        for text in texts:
            await said(people, text)
        return "seen"

    return tool(effect=Effect.READ, name=name)(look)


async def test_a_message_in_mid_run_is_read_at_the_next_iteration_behind_the_results() -> None:
    people = People([Step(calls=[LOOK]), "Both."])
    people.tools = [telling(people, texts=("And the fees?", "Please."))]
    async with people.session() as session:
        assert (await session.ask("Go.")).answer == "Both."
    assert await roles(people) == [
        "user Go.",
        "assistant",
        "tool seen",
        "user And the fees?",
        "user Please.",
        "assistant",
    ]
    assert await people.facts(Said) == [
        Said(Posted(number, "ann", NOW), user(text))
        for number, text in ((1, "And the fees?"), (2, "Please."))
    ]


class Interjected(Scripted):
    """A model during whose n-th reply somebody says something."""

    def __init__(self, people: People, turn: int) -> None:
        super().__init__(people.steps)
        self._people = people
        self._turn = turn

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        if request.turn == self._turn:
            await said(self._people, "Wait.")
        async for part in super().stream(request):
            yield part


async def interjected(people: People, turn: int) -> list[str]:
    async with Engine(
        Interjected(people, turn),
        [FunctionNamespace("sys", people.till.tools())],
        store=people.store,
        outside=outside(),
    ) as engine:
        result = await engine.session("s").ask("Go.")
    assert (result.why, result.answer) == ("answered", "Done.")
    assert list(unpaired((await people.state()).conversation.messages)) == []
    return await roles(people)


async def test_a_message_during_the_answer_is_answered_before_the_run_ends() -> None:
    people = People(["It is so.", "Done."])
    assert await interjected(people, 1) == ["user Go.", "assistant", "user Wait.", "assistant"]


async def test_a_message_during_a_reply_that_calls_waits_for_its_results() -> None:
    people = People([Step(calls=[LOOK]), "Done."])
    assert await interjected(people, 1) == ["user Go.", "assistant", "tool seen", "user Wait.", "assistant"]


async def test_a_message_never_stands_in_a_paused_turn() -> None:
    """Providers want a paused turn back as it was, and nothing behind it."""
    people = People([Step("Hold on", stop="pause"), "So.", "Done."])
    assert await interjected(people, 1) == ["user Go.", "assistant", "assistant", "user Wait.", "assistant"]


async def test_what_is_asked_of_a_provider_still_extends_and_is_accepted() -> None:
    people = People([])
    replies = [Reply200([ToolUse("sys__look", {})]), Reply200([Words("Both.")])]
    system = FunctionNamespace("sys", [telling(people, texts=("One.", "Two."))])
    with Loopback(in_order(replies)) as server:
        model = Claude(server)
        async with Engine(model, [system], store=people.store, outside=outside()) as engine:
            assert (await engine.session("s").ask("Go.")).answer == "Both."
        assert server.refusals == []
    first, second = model.sent
    assert second.segments[: len(first.segments)] == first.segments


async def test_a_message_to_a_run_that_waits_is_read_with_what_it_waits_for() -> None:
    people = People([Step(calls=[pay("A"), LOOK]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        await session.say("Is it urgent?", by="ann")
        assert (await resumed(session)).why == "waiting"
        assert (await people.state()).conversation.messages[-1].role == "assistant"
        await session.approve("1.1")
        assert (await resumed(session)).answered
    ends = ["tool paid 10 to A,seen", "user Is it urgent?", "assistant"]
    assert await roles(people) == ["user Go.", "assistant", *ends]


async def test_a_message_to_a_run_that_stopped_is_read_when_it_goes_on() -> None:
    people = People([Step(calls=[LOOK]), "Done."])
    people.limits = type(people.limits)(iterations=1)
    async with people.session() as session:
        assert (await session.ask("Go.")).why == "limit"
        await session.say("Hurry.")
        assert (await resumed(session)).answered
    assert (await roles(people))[-2:] == ["user Hurry.", "assistant"]


async def test_a_message_that_the_run_just_missed_is_read_by_the_next_one() -> None:
    people = People(["One.", "Two."])
    async with people.session() as session:
        await session.ask("First.")
        with pytest.raises(NotOpen, match=r"run 's\.1': it has answered"):
            await session.say("Too late.")
        word = posting("s.1", Say("Just missed."), "ann", NOW)  # it had not answered yet, a moment ago
        await people.store.scoped("local").journal.post("s", word)
        await session.ask("Second.")
    assert await roles(people) == [
        "user First.",
        "assistant",
        "user Second.",
        "user Just missed.",
        "assistant",
    ]


async def test_files_that_come_with_messages_have_handles_of_their_own() -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    png = Attachment("a.png", b"\x89PNG", "image/png")
    async with people.session() as session:
        await session.ask("Go.", files=[png])
        await session.say("This one.", files=[Attachment("a.png", b"other", "image/png")])
        await session.say("", files=[Attachment("a.png", b"third", "image/png")])
        await session.deny("1.1")
        assert (await resumed(session)).answered
        state, artifacts = await people.state(), people.store.scoped("local").artifacts
        kept = {handle: await artifacts.get(stored.ref) for handle, stored in state.artifacts.items()}
    assert kept == {"file/a.png": b"\x89PNG", "file/2-a.png": b"other", "file/3-a.png": b"third"}
    media = [block for one in state.conversation.messages for block in one.blocks if block.kind == "media"]
    assert len(media) == 3


async def test_a_message_has_to_say_something() -> None:
    people = People([Step(calls=[pay("A")])])
    async with people.session() as session:
        await session.ask("Go.")
        with pytest.raises(ConfigurationError, match=r"a message has to say something; got ' '"):
            await session.say(" ")
        with pytest.raises(ConfigurationError, match=r"cannot attach 'none\.csv'"):
            await session.say("This.", files=["none.csv"])
    assert await people.store.scoped("local").journal.inbox("s") == []


async def test_what_no_store_can_carry_is_replaced() -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    async with people.session() as session:
        await session.ask("Go.", by="\ud83d")
        await session.say("half \ud83d \x00", by="\ud83d", key="\x00\ud83d")
        await session.deny("1.1", reason="\ud83d", by="\x00")
        assert (await resumed(session)).answered
    assert (await people.facts(Said))[0] == Said(Posted(1, "\ufffd", NOW), user("half \ufffd \ufffd"))


async def test_what_is_posted_twice_under_one_key_is_said_once() -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        for _ in range(3):
            await session.say("Once.", key="message 1")
        assert (await resumed(session)).why == "waiting"
        await session.say("Once.", key="message 1")
        await session.deny("1.1")
        assert (await resumed(session)).answered
    assert (await roles(people)).count("user Once.") == 1


# What cannot be taken in.


@pytest.mark.parametrize(
    ("word", "why"),
    [
        (Posting("s.1", "dance", b"{}", "eve", NOW), "this release does not know what 'dance' is"),
        (Posting("s.1", "say", b"{", "eve", NOW), "it cannot be read: "),
        (posting("s.1", Say(" "), "eve", NOW), "a message has to say something; got ' '"),
        (posting("s.1", Say("x", (SentFile("a", "0" * 64, "b"),)), "eve", NOW), "no artifact '000"),
        (Posting("s.1", "da\x00nce\x1b", b'{"\xff', "eve\x00", NOW), "this release does not know"),
    ],
)
async def test_what_cannot_be_taken_in_is_recorded_with_the_reason_and_stops_nothing(
    word: Posting, why: str
) -> None:
    people = People([Step(calls=[pay("A")]), "Done."])
    async with people.session() as session:
        await session.ask("Go.")
        await people.store.scoped("local").journal.post("s", word)
        await session.deny("1.1")
        assert (await resumed(session)).answered
    (refused,) = await people.facts(Refused)
    assert isinstance(refused, Refused)
    assert (refused.posted.item, refused.why[: len(why)]) == (1, why)
    assert await people.store.scoped("local").journal.inbox("s") == []
    rows = people.store.scoped("local").journal.read("s")
    events = [event async for row in rows if isinstance(event := event_of(row), PostRefused)]
    assert [event.why for event in events] == [refused.why]


# Questions.


async def test_the_model_asks_a_person_and_reads_the_answer() -> None:
    people = People([Step(calls=[WHICH, LOOK]), "Done."])
    async with people.session() as session:
        result = await session.ask("Go.")
        question = Questioned("1.1", "Which month?", ("August", "September"))
        assert (result.why, result.detail) == ("waiting", "waits for an answer to 1.1: Which month?")
        assert (result.questions, result.approvals) == ((question,), ())
        assert await session.waiting() == (question,)
        for wrong in (session.approve("1.1"), session.answer("1.2", "x"), session.answer("7.7", "x")):
            with pytest.raises(NotOpen, match=r"Open are: 1\.1"):
                await wrong
    people.store.scoped("local")
    async with people.session() as session:  # another process
        await session.answer("1.1", "Neither: July.", by="ann")
        assert (await resumed(session)).answered
    assert await people.contents() == ["Neither: July.", "seen"]
    assert await people.facts(Answered) == [Answered(Posted(1, "ann", NOW), "1.1", "Neither: July.")]
    rows = people.store.scoped("local").journal.read("s")
    events = [event_of(row) async for row in rows]
    assert [one for one in events if isinstance(one, (QuestionAsked, QuestionAnswered))] == [
        QuestionAsked(5, "s.1", "1.1", "Which month?", ("August", "September")),
        QuestionAnswered(9, "s.1", "1.1", "ann", "Neither: July."),
    ]


async def test_questions_and_approvals_are_open_together_and_settled_in_any_order() -> None:
    asked = Call("ask_user", {"question": "Whose account?"})
    people = People([Step(calls=[WHICH, pay("A"), asked, pay("B")]), "Done."])
    async with people.session() as session:
        assert (await session.ask("Go.")).detail == (
            "waits for an answer to 1.1: Which month?; approval of 1.2 (sys__pay); an answer to 1.3: Whose "
            "account?; approval of 1.4 (sys__pay)"
        )
        await session.approve("1.4")
        await session.answer("1.3", "Ours.")
        assert [one.asked.call for one in (await open_in(people))] == ["1.1", "1.2", "1.3", "1.4"]
        result = await resumed(session)
        assert ([one.call for one in result.approvals], [one.call for one in result.questions]) == (
            ["1.2"],
            ["1.1"],
        )
        assert len(people.model.requests) == 1
        await session.deny("1.2")
        await session.answer("1.1", "August")
        assert (await resumed(session)).answered
    assert people.till.done == ["pay B 10"]
    contents = await people.contents()
    assert [contents[0], *contents[2:]] == ["August", "Ours.", "paid 10 to B"]


async def open_in(people: People):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return [one for one in (await people.state()).current.waiting.values() if one.is_open]


@pytest.mark.parametrize("arguments", [{}, {"question": ""}, {"question": "x", "options": [""]}])
async def test_a_question_that_does_not_fit_is_told_to_the_model(arguments: dict[str, object]) -> None:
    people = People([Step(calls=[Call("ask_user", arguments)]), "Done."])  # type: ignore[arg-type]
    async with people.session() as session:
        assert (await session.ask("Go.")).answered
    assert (await people.contents())[0].startswith("The arguments do not fit ask_user:")


# Exactly once.


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["say", "drive", "lose"]), min_size=1, max_size=8))
def test_whatever_is_posted_is_taken_once_however_often_the_driver_changes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    """To be lost is to read the inbox and to record nothing any more."""

    async def scenario(people: People) -> None:
        texts: list[str] = []
        async with people.session() as session:
            await session.ask("Go.")
            for step in [*steps, "drive"]:
                if step == "say":
                    texts.append(f"Message {len(texts)}.")
                    await session.say(texts[-1])
                elif step == "drive":
                    assert (await resumed(session)).why == "waiting"
                else:
                    await lost(session)
            await session.deny("1.1")
            assert (await resumed(session)).answered
        told = [one.message.text for one in await people.facts(Said) if isinstance(one, Said)]
        assert told == texts
        assert [one for one in await roles(people) if one.startswith("user ")] == [
            "user Go.",
            *(f"user {text}" for text in texts),
        ]
        await people.store.close()

    script = [Step(calls=[pay("A")]), "Done."]
    asyncio.run(scenario(People(script, store=MemoryStore())))
    asyncio.run(scenario(People(script, store=SqliteStore(tmp_path_factory.mktemp("any") / "store.db"))))


async def lost(session: Session) -> None:
    run = await session._lead("s.1")  # pyright: ignore[reportPrivateUsage]
    await run.mail.items()
    await run.store.journal.release(run.lease)
