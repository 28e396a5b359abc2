"""Each store keeps what they accepted, in order and whole, and keep tenants and sessions apart."""

import asyncio
import datetime
import hashlib
import sqlite3
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from bare_run import NOON, SetClock
from offing.compaction.conversation import Media, Message, Raw, Reasoning, Text, ToolCall, ToolResult
from offing.engine import Engine, Playbook, Scripted
from offing.engine.clock import Outside
from offing.engine.errors import FaultKind, JournalUnreadable, LeaseLost, NotFound
from offing.engine.limits import Limits
from offing.engine.models.model import Reply, StopReason
from offing.engine.scrub import scrub_fields
from offing.engine.state import State, apply
from offing.engine.store import SqliteStore, Store
from offing.engine.store.branches import Edited, Forked, Moved, NotUndone
from offing.engine.store.codec import KINDS, Body, Upcaster, decode, encode, unrecordable
from offing.engine.store.facts import (
    Began,
    Checked,
    Fact,
    Faulted,
    Linked,
    Noted,
    Opened,
    Remembered,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    SkillHow,
    Started,
    Stopped,
    StopWhy,
    Stored,
    Task,
    TasksSet,
    Unknown,
    Waited,
)
from offing.engine.store.journal import Lease, Row
from offing.engine.store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    Posted,
    Questioned,
    Refused,
    Requested,
    Said,
    Taken,
)
from offing.namespaces import Effect, FunctionNamespace, Record
from offing.namespaces.functions import tool
from offing.tracing import Usage
from stores import DURABLE, MAKERS, store_in

pytestmark = pytest.mark.anyio

# Facts of every kind, as generous as their types.

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INTEGERS = st.integers() | st.integers(-(2**100), 2**100)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(TEXT, inside, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
COUNTS = st.integers(0, 2**40)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


USAGES = st.builds(Usage, *[COUNTS] * 6)
MEDIA = st.builds(Media, st.sampled_from(["image/png", "application/pdf"]), TEXT, TEXT)
CALLS = st.builds(ToolCall, TEXT, TEXT, OBJECT, st.none() | TEXT)
RESULTS = st.builds(ToolResult, TEXT, TEXT, st.booleans(), some(MEDIA), st.none() | TEXT)
BLOCKS = st.builds(Text, TEXT) | st.builds(Reasoning, TEXT) | MEDIA | CALLS | RESULTS
RAWS = st.builds(Raw, TEXT, TEXT, TEXT.map(str.encode))
ROLES = st.sampled_from(["user", "assistant", "tool", "note"])
MESSAGES = st.builds(Message, ROLES, some(BLOCKS), st.none() | RAWS)
STORED = st.builds(Stored, TEXT, TEXT, COUNTS, TEXT)
MAYBE = st.none() | TEXT
RECORDS = st.builds(
    Record,
    TEXT,
    st.none() | DECIMALS,
    MAYBE,
    st.none() | st.dates(),
    TEXT,
    MAYBE,
    st.none() | COUNTS,
    MAYBE,
)
STATUSES = st.sampled_from(["pending", "active", "done", "failed"])
REPLIES = st.builds(Reply, MESSAGES, st.sampled_from(get_args(StopReason)), USAGES, TEXT)
POSTED = st.builds(Posted, COUNTS, TEXT, COUNTS)
FACTS: dict[str, st.SearchStrategy[Any]] = {
    "opened": st.builds(Opened, TEXT, TEXT, TEXT, TEXT, OBJECT),
    "began": st.builds(
        Began,
        MESSAGES,
        st.builds(Limits, COUNTS, COUNTS),
        st.none() | OBJECT,
        some(STORED),
        by=TEXT,
    ),
    "resumed": st.builds(Resumed, TEXT, COUNTS),
    "noted": st.builds(Noted, TEXT, TEXT),
    "replied": st.builds(Replied, REPLIES, st.none() | DECIMALS, TEXT),
    "faulted": st.builds(
        Faulted,
        st.sampled_from(get_args(FaultKind)),
        TEXT,
        st.none() | COUNTS,
        st.floats(0, 1),
        USAGES,
        st.none() | DECIMALS,
    ),
    "waited": st.just(Waited()),
    "started": st.builds(Started, TEXT, TEXT, TEXT),
    "settled": st.builds(Settled, RESULTS, TEXT, some(RECORDS), some(STORED), st.booleans()),
    "tasks": st.builds(TasksSet, some(st.builds(Task, TEXT, STATUSES)), st.none() | st.floats(0, 1)),
    "linked": st.builds(Linked, TEXT, some(TEXT)),
    "checked": st.builds(Checked, TEXT),
    "remembered": st.builds(Remembered, TEXT, TEXT, TEXT, st.none() | COUNTS),
    "skill": st.builds(
        SkillActivated, TEXT, TEXT, st.sampled_from(get_args(SkillHow)), some(TEXT), TEXT, TEXT
    ),
    "requested": st.builds(
        Requested, TEXT, TEXT, OBJECT, TEXT, TEXT, TEXT, st.none() | COUNTS, st.none() | TEXT
    ),
    "questioned": st.builds(Questioned, TEXT, TEXT, some(TEXT)),
    "expired": st.builds(Expired, TEXT),
    "decided": st.builds(Decided, POSTED, TEXT, st.booleans(), TEXT),
    "answered": st.builds(Answered, POSTED, TEXT, TEXT),
    "said": st.builds(Said, POSTED, MESSAGES, some(STORED)),
    "cancel": st.builds(CancelAsked, POSTED, TEXT, st.booleans()),
    "refused": st.builds(Refused, POSTED, TEXT, TEXT),
    "stopped": st.builds(Stopped, st.sampled_from(get_args(StopWhy)), TEXT),
    "forked": st.builds(
        Forked,
        TEXT,
        TEXT,
        COUNTS,
        COUNTS,
        some(st.builds(Edited, st.sampled_from(["message", "result", "model"]), TEXT)),
        some(st.builds(NotUndone, TEXT, TEXT, st.sampled_from(["done", "failed", "unknown"]))),
    ),
    "moved": st.builds(Moved, TEXT),
}
ANY_FACT = st.one_of(*FACTS.values())
OWN_FACT = ANY_FACT.filter(lambda fact: not isinstance(fact, Taken))
"""Facts that take nothing out of an inbox."""


def test_there_are_examples_of_every_kind() -> None:
    assert FACTS.keys() == KINDS.keys()
    assert set(KINDS.values()) == set(get_args(Fact))


@given(ANY_FACT)
@example(Noted("key", "\x00 nul, \u2028 separator, \U0001f600 smiley, \ufffd"))
@example(Settled(ToolResult("1.1", ""), "t", (Record("r", Decimal("-1E+3"), date=datetime.date.min),)))
@example(
    Replied(Reply(Message("assistant", (ToolCall("1.1", "t", {"n": 10**400, "f": -0.0}),)), "tools", Usage()))
)
def test_a_fact_is_read_back_as_it_was(fact: Fact) -> None:
    body = encode(fact)
    read_back = decode(body)
    assert not isinstance(read_back, Unknown)
    assert (read_back, repr(read_back)) == (fact, repr(fact))
    assert (encode(read_back), body.version, KINDS[body.kind]) == (body, 1, type(fact))
    assert unrecordable(fact) == ""
    body.body.decode("utf-8")


@given(
    st.builds(
        Message,
        ROLES,
        some(
            st.builds(Text, st.text())
            | st.builds(ToolCall, st.text(), st.text(), st.dictionaries(st.text(), st.text()))
        ),
    )
)
@example(Message("assistant", (Text("half a smiley: \ud83d"), ToolCall("", "\udc00", {"\ud800": "\x00"}))))
def test_what_was_scrubbed_can_always_be_recorded(message: Message) -> None:
    assert unrecordable(Replied(scrub_fields(Reply(message, "end", Usage())))) == ""


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "fact",
    [
        pytest.param(Noted("key", "\ud83d"), id="a lone surrogate"),
        pytest.param(Linked("x", ["r"]), id="a list where a tuple belongs"),  # type: ignore[arg-type]
        pytest.param(TasksSet((), float("nan")), id="not a number"),
        pytest.param(TasksSet((), float("inf")), id="infinite"),
        pytest.param(Settled(ToolResult("1", ""), "t", (Record("r", Decimal("NaN")),)), id="no amount"),
        pytest.param(Settled(ToolResult("1", ""), "t", (Record("r", Decimal("sNaN")),)), id="a signal"),
        pytest.param(Opened("m", "f", "s", "c", {"a": nested(300)}), id="nested too deep to be read"),
        pytest.param(Opened("m", "f", "s", "c", {"a": nested(100_000)}), id="nested too deep to be written"),
        pytest.param(Opened("m", "f", "s", "c", {"a": object()}), id="no JSON"),  # type: ignore[dict-item]
        pytest.param(Opened("m", "f", "s", "c", {"a": float("nan")}), id="NaN in JSON"),
    ],
)
def test_what_would_not_be_read_back_as_it_is_is_found_out_before_it_is_recorded(fact: Fact) -> None:
    assert unrecordable(fact) != ""


def test_what_is_nested_a_hundred_deep_is_read_back() -> None:
    assert unrecordable(Opened("m", "f", "s", "c", {"a": nested(100)})) == ""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(Body("noted", 1, b""), id="empty"),
        pytest.param(Body("noted", 1, b'{"key": "a", "te'), id="cut"),
        pytest.param(Body("noted", 1, b"\xff\xfe"), id="no UTF-8"),
        pytest.param(Body("noted", 1, b"[]"), id="no object"),
        pytest.param(Body("noted", 1, b'{"key": "a"}'), id="a field is missing"),
        pytest.param(Body("stopped", 1, b'{"why": "bored", "detail": ""}'), id="a value is unheard of"),
        pytest.param(Body("noted", 0, b'{"key": "a", "text": ""}'), id="a version before the first"),
    ],
)
def test_a_damaged_row_is_named(body: Body) -> None:
    with pytest.raises(JournalUnreadable, match=f"a row of kind '{body.kind}' is damaged"):
        decode(body)


# Older and newer versions.


def _renamed(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """From version 1, in which the key was called `about`."""
    return {"key": body["about"], "text": body["text"]}


def _in_capitals(body: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """From version 2, in which texts were in lower case."""
    return {**body, "text": str(body["text"]).upper()}


OLDER: dict[str, tuple[Upcaster, ...]] = {"noted": (_renamed, _in_capitals)}


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (Body("noted", 1, '{"about": "a", "text": "é"}'.encode()), Noted("a", "É")),
        (Body("noted", 2, b'{"key": "a", "text": "b"}'), Noted("a", "B")),
        (Body("noted", 3, b'{"key": "a", "text": "b"}'), Noted("a", "b")),
        (Body("noted", 4, b'{"key": "a"}'), Unknown("noted", 4, b'{"key": "a"}')),
        (Body("linked", 1, b'{"figure": "a", "records": []}'), Linked("a", ())),
    ],
)
def test_rows_of_older_versions_are_brought_up_to_date_and_newer_ones_kept(body: Body, fact: Fact) -> None:
    assert decode(body, OLDER) == fact


@pytest.mark.parametrize("body", [b"[]", b"7", b"{}", b"{", b"[" * 100_000])
def test_a_damaged_row_of_an_older_version_is_named(body: bytes) -> None:
    with pytest.raises(JournalUnreadable, match="a row of kind 'noted' is damaged"):
        decode(Body("noted", 1, body), OLDER)


# The stores.


@asynccontextmanager
async def opened(kind: str, folder: Path) -> AsyncGenerator[Store]:
    store = store_in(kind, folder)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(params=MAKERS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with opened(request.param, tmp_path) as store:
        yield store


def row(seq: int, text: str = "") -> Row:
    return Row(seq, "s.1", NOON + seq, Noted(str(seq), text))


async def rows_of(store: Store, stream: str = "s", after: int = 0, tenant: str = "local") -> list[Row]:
    return [one async for one in store.scoped(tenant).journal.read(stream, after)]


async def test_rows_are_read_back_in_order_and_whole_from_wherever_one_likes(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    rows = [row(seq, "x" * seq) for seq in range(1, 1201)]
    await journal.append(lease, rows[:1])
    await asyncio.gather(*(journal.append(lease, [one]) for one in rows[1:100]))
    await journal.append(lease, rows[100:])
    assert await rows_of(store) == rows
    assert await rows_of(store, after=1) == rows[1:]
    assert await rows_of(store, after=500) == rows[500:]
    assert await rows_of(store, after=1200) == []
    assert await rows_of(store, "nobody's") == []


@pytest.mark.parametrize("kind", MAKERS)
@given(batches=st.lists(st.lists(OWN_FACT, min_size=1, max_size=3), max_size=4))
def test_any_facts_come_back_as_they_were(
    kind: str, tmp_path_factory: pytest.TempPathFactory, batches: list[list[Fact]]
) -> None:
    async def scenario() -> None:
        async with opened(kind, tmp_path_factory.getbasetemp()) as store:
            tenant = uuid.uuid4().hex
            journal = store.scoped(tenant).journal
            lease = await journal.acquire("s")
            rows: list[Row] = []
            for batch in batches:
                added = [Row(len(rows) + 1 + n, "s.1", NOON, fact) for n, fact in enumerate(batch)]
                await journal.append(lease, added)
                rows += added
            assert await rows_of(store, tenant=tenant) == rows

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row(3)], id="a gap before"),
        pytest.param([row(1)], id="a row that is there"),
        pytest.param([row(2), row(4)], id="a gap in the middle"),
        pytest.param([row(2), row(2)], id="the same place twice"),
        pytest.param([row(3), row(2)], id="the wrong order"),
    ],
)
async def test_rows_that_do_not_follow_are_refused_all_of_them(store: Store, rows: Sequence[Row]) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    await journal.append(lease, [row(1)])
    with pytest.raises(LeaseLost):
        await journal.append(lease, rows)
    assert await rows_of(store) == [row(1)]
    await journal.append(lease, [row(2), row(3)])
    assert await rows_of(store) == [row(1), row(2), row(3)]


async def test_a_foreign_token_is_refused(store: Store) -> None:
    journal = store.scoped("local").journal
    lease = await journal.acquire("s")
    for foreign in (Lease("s", lease.token + 1, 0), Lease("s", lease.token - 1, 0)):
        with pytest.raises(LeaseLost):
            await journal.append(foreign, [row(1)])
    await journal.release(lease)
    with pytest.raises(LeaseLost):
        await journal.append(lease, [row(1)])
    assert await rows_of(store) == []


async def test_tenants_see_nothing_of_each_other(store: Store) -> None:
    ours, theirs = store.scoped("ours"), store.scoped("theirs")
    our_lease, their_lease = await ours.journal.acquire("s"), await theirs.journal.acquire("s")
    await ours.journal.append(our_lease, [row(1, "ours"), row(2)])
    await theirs.journal.append(their_lease, [row(1, "theirs")])
    assert await rows_of(store, tenant="ours") == [row(1, "ours"), row(2)]
    assert await rows_of(store, tenant="theirs") == [row(1, "theirs")]
    assert await rows_of(store, tenant="nobody") == []
    ref = await ours.artifacts.put(b"ours")
    with pytest.raises(NotFound):
        await theirs.artifacts.get(ref)
    assert await ours.artifacts.get(ref) == b"ours"


async def test_artifacts_are_found_by_their_content_and_kept_once(store: Store) -> None:
    artifacts = store.scoped("local").artifacts
    contents = [b"", b"\x00\xff", b"text", b"x" * 2_000_000, b"text"]
    refs = [await artifacts.put(data) for data in contents]
    assert refs == [hashlib.sha256(data).hexdigest() for data in contents]
    assert [await artifacts.get(ref) for ref in refs] == contents
    for nothing in ("", "0" * 64, "..", "%"):
        with pytest.raises(NotFound):
            await artifacts.get(nothing)


async def test_the_same_bytes_take_their_room_once(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as store:
        ours = store.scoped("ours").artifacts
        await asyncio.gather(*(ours.put(b"same") for _ in range(10)))
        await store.scoped("theirs").artifacts.put(b"same")
    assert in_database(tmp_path, "select tenant, count(*) from artifact group by tenant") == [
        ("ours", 1),
        ("theirs", 1),
    ]


@pytest.mark.parametrize("kind", DURABLE)
async def test_what_was_acknowledged_is_there_when_it_is_opened_again(kind: str, tmp_path: Path) -> None:
    async with opened(kind, tmp_path) as store:
        scope = store.scoped("local")
        lease = await scope.journal.acquire("s")
        await scope.journal.append(lease, [row(1), row(2)])
        ref = await scope.artifacts.put(b"kept")
    async with opened(kind, tmp_path) as store:
        assert await rows_of(store) == [row(1), row(2)]
        assert await store.scoped("local").artifacts.get(ref) == b"kept"
        assert await store.scoped("local").journal.acquire("s") == Lease("s", 2, 2)


async def test_a_body_is_kept_as_bytes_and_the_file_in_wal_mode(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as store:
        journal = store.scoped("local").journal
        await journal.append(await journal.acquire("s"), [row(1, "é\x00")])
        assert in_database(tmp_path, "select typeof(body), kind, version, at, run, body from fact") == [
            ("blob", "noted", 1, NOON + 1, "s.1", '{"key":"1","text":"é\\u0000"}'.encode())
        ]
        assert in_database(tmp_path, "pragma journal_mode") == [("wal",)]


async def test_a_file_that_was_never_written_has_no_rows_and_is_not_made(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    assert await rows_of(store) == []
    with pytest.raises(NotFound):
        await store.scoped("local").artifacts.get("0" * 64)
    await store.close()
    assert in_folder(tmp_path) == []


def in_folder(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def in_database(folder: Path, statement: str, *values: object) -> list[Any]:
    connection = sqlite3.connect(folder / "store.db")
    with connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


async def test_a_row_of_a_newer_release_can_be_shown_and_not_driven(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as store:
        journal = store.scoped("local").journal
        await journal.append(await journal.acquire("s"), [row(1), row(2), row(3)])
        in_database(tmp_path, "update fact set kind='approved' where seq=2")
        in_database(tmp_path, "update fact set version=7 where seq=3")
        body = '{"key":"%d","text":""}'
        shown = [
            row(1),
            Row(2, "s.1", NOON + 2, Unknown("approved", 1, (body % 2).encode())),
            Row(3, "s.1", NOON + 3, Unknown("noted", 7, (body % 3).encode())),
        ]
        assert await rows_of(store) == shown
        for unknown, named in ((shown[1], "'approved', version 1"), (shown[2], "'noted', version 7")):
            with pytest.raises(JournalUnreadable, match=f"row {unknown.seq} is of kind {named}, which"):
                apply(State(seq=unknown.seq - 1), unknown)


async def test_a_damaged_row_stops_the_reading_at_its_place(tmp_path: Path) -> None:
    async with opened("sqlite", tmp_path) as store:
        journal = store.scoped("local").journal
        await journal.append(await journal.acquire("s"), [row(1), row(2), row(3)])
        in_database(tmp_path, "update fact set body=? where seq=2", b'{"key":')
        reading = journal.read("s")
        assert await anext(reading) == row(1)
        with pytest.raises(JournalUnreadable, match="a row of kind 'noted' is damaged"):
            await anext(reading)


# The engine over a journal that this release cannot read, and handles of other sessions.


async def exporting(book: Playbook, text: str) -> str:
    if text == "Read the other's.":
        return (await book.call("read", source="result/1.1")).text
    await book.call("world__export")
    return "Exported."


def exports() -> FunctionNamespace:
    def export() -> str:
        """Exports more than a context holds."""
        return "secret " * 5_000

    return FunctionNamespace("world", [tool(effect=Effect.READ)(export)])


async def test_a_handle_means_something_in_its_own_session_alone(store: Store) -> None:
    async with Engine(Scripted(exporting), [exports()], store=store) as engine:
        await engine.session("mine").ask("Export.")
        own = await engine.session("mine").ask("Read the other's.")
        other = await engine.session("other").ask("Read the other's.")
    assert own.answer.startswith("[result/1.1: characters 0 to 12000 of 35000]\nsecret secret")
    assert other.answer == "there is no handle 'result/1.1' in this session. Handles: none yet"


async def test_a_session_of_a_newer_release_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    refused = "kind 'approved', version 1, which this release"
    async with Engine(Scripted(exporting), [exports()], store=SqliteStore(tmp_path / "store.db")) as engine:
        await engine.session("s").ask("Export.")
    in_database(tmp_path, "update fact set kind='approved' where kind='stopped'")
    kept = in_database(tmp_path, "select * from fact")
    async with Engine(Scripted(exporting), [exports()], store=SqliteStore(tmp_path / "store.db")) as engine:
        for _ in range(2):
            with pytest.raises(JournalUnreadable, match=refused):
                await engine.session("s").ask("Export.")
            with pytest.raises(JournalUnreadable, match=refused):
                await engine.resume("s.1")
    assert in_database(tmp_path, "select * from fact") == kept


async def test_both_stores_keep_the_same_bytes(tmp_path: Path) -> None:
    """What a session writes does not depend on where it is kept."""
    kept: list[list[Body]] = []
    for kind in MAKERS:
        async with opened(kind, tmp_path) as store:
            outside = Outside(clock=SetClock())
            async with Engine(Scripted(exporting), [exports()], store=store, outside=outside) as engine:
                await engine.session("s").ask("Export.")
            kept.append([encode(one.known) for one in await rows_of(store)])
    assert kept[0] == kept[1]
