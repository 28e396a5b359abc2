"""What enters the context is bounded and fit for every wire; what was left out is read back whole."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from offing.engine import Call, Limits, MemoryStore, SqliteStore, Step
from offing.engine.results import Origin, distinct, settled
from offing.engine.scrub import json_bytes, json_object, scrub, scrub_fields
from offing.engine.store.codec import unrecordable
from offing.namespaces import Attachment, Effect, Record, ToolContext, ToolOutput
from worlds import Given, World, async_tool, invoke

ORIGIN = Origin("7.1", "sys__it", frozenset(), "sys")

anything = st.text(st.characters(), max_size=60) | st.text("ab\n", min_size=200, max_size=900)
fit = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="".join(map(chr, range(32)))))
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(anything, inside, max_size=3),
    max_leaves=6,
)


@given(output=values, error=st.booleans(), limit=st.integers(0, 400))
async def test_every_output_is_capped_kept_whole_and_recordable(
    output: JsonValue,
    error: bool,  # noqa: FBT001
    limit: int,
) -> None:
    artifacts = MemoryStore().scoped("local").artifacts
    fact = await settled(ToolOutput(output, error=error), ORIGIN, artifacts, Limits(result_chars=limit))
    assert unrecordable(fact) == ""
    content = fact.result.content
    text = (
        output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, separators=(",", ":"))
    )
    if fact.result.handle is None:
        assert (content, fact.stored) == (text if text.strip() else "(no output)", ())
        assert len(text) <= limit
    else:
        (stored,) = fact.stored
        assert (stored.handle, fact.result.handle) == ("result/7.1", "result/7.1")
        assert await artifacts.get(stored.ref) == text.encode("utf-8", "surrogatepass")
        assert len(content) <= limit + 300
    assert (content, fact.result.error) == (scrub(content), error)


async def test_a_long_output_shows_its_beginning_its_end_and_how_the_rest_is_read() -> None:
    text = "".join(f"line {n}\n" for n in range(10_000))
    artifacts = MemoryStore().scoped("local").artifacts
    fact = await settled(ToolOutput(text), ORIGIN, artifacts, Limits(result_chars=1_100))
    head, _, rest = fact.result.content.partition("\n[...")
    assert head == text[:100]
    assert rest == (
        f" {len(text) - 1100:,} of {len(text):,} characters are not shown. The whole output is kept: "
        'read(source="result/7.1") gives parts of it, by line or by search. It ends with:]\n'
        f"{text[-1000:]}"
    )


async def test_a_huge_error_is_capped_and_kept_like_any_other_output(tmp_path: Path) -> None:
    size = 50_000_000

    async def fail(arguments: Given, context: ToolContext) -> ToolOutput:
        raise ValueError("x" * size)

    store = SqliteStore(tmp_path / "journal.db")
    world = World([async_tool(fail, effect=Effect.READ)], store=store)
    async with world.ran(Step(calls=[invoke("it")]), "done") as batch:
        (result,) = batch.results
        stored = batch.state.artifacts["result/1.1"]
        assert stored.size == size + len("ValueError: ")
        assert len(await batch.engine.store.artifacts.get(stored.ref)) == stored.size
    assert result.error
    assert len(result.content) < 17_000
    assert len(batch.model.requests[-1].segments[-1]) < 17_000


async def test_the_model_reads_back_what_was_capped_range_by_range_byte_for_byte() -> None:
    text = "".join(f"{n:05} é half\n" for n in range(5_000))

    async def much(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput(text)

    starts = range(0, len(text), 12_000)
    reads = [Call("read", {"source": "result/1.1", "offset": start}) for start in starts]
    batch = await World([async_tool(much)]).run(Step(calls=[invoke("it")]), Step(calls=reads), "done")
    parts = [content.partition("\n")[2] for content in batch.contents[1:]]
    assert "".join(parts) == text
    assert list(batch.state.artifacts) == ["result/1.1"]


async def test_scrubbed_content_is_kept_with_its_original_bytes() -> None:
    async def odd(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("a\ud83d\x00b")

    async with World([async_tool(odd)]).ran(Step(calls=[invoke("it")]), "done") as batch:
        (result,) = batch.results
        assert (result.content, result.handle) == ("a\ufffd\ufffdb", "result/1.1")
        kept = await batch.engine.store.artifacts.get(batch.state.artifacts["result/1.1"].ref)
    assert kept == "a\ud83d\x00b".encode("utf-8", "surrogatepass")


@given(st.lists(st.builds(Attachment, anything | st.sampled_from(["a", "2-a", "a/b", "a_b"]), st.just(b""))))
def test_names_of_attachments_become_distinct_parts_of_a_handle(attachments: list[Attachment]) -> None:
    taken = {"a", "3-a"}
    names = [one.name for one in distinct(attachments, taken)]
    assert len(names) == len(attachments)
    assert len({*names, *taken}) == len(names) + len(taken)
    assert all(name and "/" not in name and scrub(name) == name for name in names)


@given(anything)
def test_scrubbed_text_can_be_encoded_and_scrubbing_again_changes_nothing(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once
    assert len(once) == len(text)
    assert "\x00" not in once.encode().decode()


@given(fit)
def test_text_that_every_wire_carries_stays_as_it_is(text: str) -> None:
    assert scrub(text) == text


@given(values)
def test_json_bytes_are_json_that_holds_no_lone_surrogate(value: JsonValue) -> None:
    read = json.loads(json_bytes(value))
    assert json_bytes(read) == json_bytes(value)


@given(st.dictionaries(anything, values, max_size=3))
def test_an_object_that_json_can_hold_is_read_as_itself(value: dict[str, JsonValue]) -> None:
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        assert json_object(json.dumps(value)) is None
    else:
        assert json_object(text) == value


def test_records_are_scrubbed_however_deep() -> None:
    output = ToolOutput({"a\x00": ["\ud83d", 1, None]}, (Record("r\x01", text="\x1b"),))
    assert scrub_fields(output) == ToolOutput(
        {"a\ufffd": ["\ufffd", 1, None]}, (Record("r\ufffd", text="\ufffd"),)
    )
