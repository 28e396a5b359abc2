"""The tools that are always there: exact sums, tasks, links, search, reading and writing."""

import json
import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from offing.compaction.conversation import Media
from offing.engine import Call, MemoryStore, Step, Workspace
from offing.engine.resident.calculate import CalculationError, Quantity, evaluate
from offing.engine.resident.workspace import WorkspaceError
from offing.engine.scrub import scrub
from offing.engine.store.facts import Task, TasksSet
from offing.namespaces import Attachment, Record, ToolContext, ToolOutput
from worlds import Batch, Given, World, async_tool, invoke

# calculate

numbers = st.decimals(-(10**9), 10**9, places=2).map(lambda d: f"{d:f}") | st.integers(0, 10**6).map(str)


def _binary(parts: tuple[str, str, str]) -> str:
    return f"({parts[0]}{parts[1]}{parts[2]})"


expressions = st.recursive(
    numbers,
    lambda inside: (
        st.tuples(inside, st.sampled_from(["+", "-", "*", " / "]), inside).map(_binary)
        | inside.map(lambda one: f"(-{one})")
        | inside.map(lambda one: f"abs({one})")
        | st.lists(inside, min_size=1, max_size=3).map(lambda some: f"sum({', '.join(some)})")
    ),
    max_leaves=6,
)


def exactly(expression: str) -> Fraction:
    """The value by fractions: an oracle that shares nothing with the evaluator."""
    exact = re.sub(r"\d+(\.\d+)?", lambda found: f"F('{found[0]}')", expression)
    return eval(exact, {"F": Fraction, "sum": _sum, "abs": abs})


def _sum(*some: Fraction) -> Fraction:
    return sum(some, Fraction())


@given(expressions)
def test_a_value_is_right_to_fifty_digits(expression: str) -> None:
    try:
        wanted = exactly(expression)
    except ZeroDivisionError:
        with pytest.raises(CalculationError, match="has no value"):
            evaluate(expression, {})
        return
    try:
        value = evaluate(expression, {}).value
    except CalculationError:  # a number of more than fifty digits
        assert abs(wanted) > 10**45 or abs(wanted) < Fraction(1, 10**45) or len(expression) > 45
        return
    # each operation rounds to fifty digits; what cancels can lose some of them
    largest = max(Fraction(part) for part in re.findall(r"\d+(?:\.\d+)?", expression))
    assert abs(Fraction(value) - wanted) <= (abs(wanted) + largest**6 + 1) / Fraction(10) ** 45


@given(st.lists(st.decimals(-(10**12), 10**12, places=2), max_size=200))
def test_a_sum_of_amounts_is_exact(amounts: list[Decimal]) -> None:
    names = {"x": tuple(Quantity(amount, "GBP") for amount in amounts)}
    assert evaluate("sum(x)", names) == Quantity(sum(amounts, Decimal()), "GBP" if amounts else None)
    assert evaluate("count(x)", names) == Quantity(Decimal(len(amounts)))


GBP, EUR = Quantity(Decimal("1.50"), "GBP"), Quantity(Decimal(3), "EUR")
NAMES = {"a": GBP, "b": EUR, "n": Quantity(Decimal(4)), "many": (GBP, GBP), "none": (), "mixed": (GBP, EUR)}


@pytest.mark.parametrize(
    ("expression", "value", "currency"),
    [
        ("1 + 2 * 3", "7", None),
        (" 1 ", "1", None),
        ("(1\n+ 2)", "3", None),
        ("0.1 + 0.2", "0.3", None),
        ("1_000.50", "1000.50", None),
        ("1e3", "1E+3", None),
        ("a + a", "3.00", "GBP"),
        ("a * n", "6.00", "GBP"),
        ("n * a", "6.00", "GBP"),
        ("a / n", "0.375", "GBP"),
        ("a / a", "1", None),
        ("-a", "-1.50", "GBP"),
        ("+a", "1.50", "GBP"),
        ("abs(-a)", "1.50", "GBP"),
        ("sum(many) - a", "1.50", "GBP"),
        ("sum(many, a)", "4.50", "GBP"),
        ("sum(none)", "0", None),
        ("count(many, a)", "3", None),
        ("max(many)", "1.50", "GBP"),
        ("min(1, 2, n)", "1", None),
        ("round(1.005, 2)", "1.00", None),
        ("round(a / 7, 2)", "0.21", "GBP"),
        ("round(1234, -2)", "1.2E+3", None),
    ],
)
def test_expressions_have_their_value(expression: str, value: str, currency: str | None) -> None:
    found = evaluate(expression, NAMES)
    assert (found.value, str(found.value), found.currency) == (Decimal(value), value, currency)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("a + b", "1.50 GBP cannot be added to 3 EUR: the currencies differ; convert one with a rate first"),
        ("a - n", "1.50 GBP cannot be set against 4: the currencies differ"),
        ("n - a", "4 cannot be set against 1.50 GBP"),
        ("a * a", "1.50 GBP cannot be multiplied by 1.50 GBP: both are money"),
        ("a / b", "1.50 GBP cannot be divided by 3 EUR"),
        ("n / a", "4 cannot be divided by 1.50 GBP"),
        ("sum(mixed)", "1.50 GBP cannot be put together with 3 EUR"),
        ("max(mixed)", "1.50 GBP cannot be put together with 3 EUR"),
        ("many + a", "a list stands where one value is needed: use sum(x) or count(x)"),
        ("many", "a list stands where one value is needed"),
        ("max(none)", "min and max need at least one value"),
        ("c", "'c' is not among the inputs (a, b, many, mixed, n, none)"),
        ("1 / 0", "'1 / 0' has no value: DivisionByZero"),
        ("0 / 0", "'0 / 0' has no value: "),
        ("average(many)", "there is no function 'average'; there are sum, count, abs, round, min, max"),
        ("round(1)", "round takes 2 values, 1 are given"),
        ("round(1, 60)", "'round(1, 60)' has no value: InvalidOperation"),
        ("2 ** 8", "'2 ** 8' is not allowed in an expression"),
        ("7 // 2", "'7 // 2' is not allowed in an expression"),
        ("7 % 2", "'7 % 2' is not allowed in an expression"),
        ("1 if a else 2", "'1 if a else 2' is not allowed"),
        ("a.value", "'a.value' is not allowed in an expression"),
        ("[1][0]", "'[1][0]' is not allowed in an expression"),
        ("'1'", "\"'1'\" is no number; records are given in `inputs`"),
        ("True", "'True' is no number"),
        ("1j", "'1j' is no number"),
        ("0x10", "'0x10' has no value: InvalidOperation"),
        ("(lambda: 1)()", "'(lambda: 1)()' is not allowed"),
        ("__import__('os')", "\"'os'\" is no number"),
        ("sum(*many)", "'*many' is not allowed"),
        ("sum(x=1)", "'sum(x=1)' is not allowed"),
        ("1 +", "'1 +' cannot be read as an expression: "),
        ("1; 2", "'1; 2' cannot be read as an expression: "),
        ("a = 1", "'a = 1' cannot be read as an expression: "),
        ("\x00", "'\\x00' cannot be read as an expression: "),
        ("1,250.00", "'(1, 250.0)' is not allowed in an expression"),
        ("1e999999999", "1E+999999999 is out of bounds: use numbers of at most 50 digits"),
        ("1e-999999999", "1E-999999999 is out of bounds"),
        ("9e49 * 9e49", "8.1E+99 is out of bounds"),
        ("9" * 999, "9999"),
        ("(" * 400 + "1" + ")" * 400, "cannot be read as an expression: "),
        ("-" * 999 + "1", "cannot be read as an expression: "),
        ("1" + "+1" * 499, None),
        ("round(1, 999999999)", "'round(1, 999999999)' has no value: InvalidOperation"),
        ("1e49 * 1e49 / 1e49 * 1e49 / 1e49 * 0e-999999999", None),
    ],
)
def test_whatever_is_no_allowed_expression_is_told_and_costs_nothing(
    expression: str, told: str | None
) -> None:
    if told is None:
        assert len(f"{evaluate(expression, NAMES).value:f}") < 300
        return
    with pytest.raises(CalculationError) as caught:
        evaluate(expression, NAMES)
    assert told in str(caught.value)


@pytest.mark.parametrize("zero", ["0e-999999999", "0e999999999", "-0e-99999", "0.00"])
def test_a_zero_is_written_in_few_digits_however_it_is_given(zero: str) -> None:
    assert len(f"{evaluate(zero, {}).value:f}") < 10


@given(st.text(max_size=40) | st.text("0123456789.+-*/()eE_abn, \n", max_size=60))
def test_any_text_has_a_bounded_value_or_a_told_error(expression: str) -> None:
    try:
        told = f"{evaluate(expression, NAMES).value:f}"
    except CalculationError as error:
        told = str(error)
    assert 0 < len(told) < 400


RECORDS = (
    Record("sys:a", Decimal("1250.00"), "GBP", text="Rent, September"),
    Record("sys:b", Decimal("-250.00"), "GBP"),
    Record("sys:e", Decimal(5), "EUR"),
    Record("sys:t", text="a note"),
)


async def _records(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("four", RECORDS)


async def used(*calls: Call, workspace: Workspace | None = None) -> Batch:
    """What became of calls of resident tools, in a session that knows the records."""
    world = World([async_tool(_records, "records")], workspace=workspace, store=MemoryStore())
    return await world.run(Step(calls=[invoke("records")]), *(Step(calls=[call]) for call in calls), "done")


def calculation(expression: str, **inputs: str | list[str]) -> Call:
    return Call("calculate", {"expression": expression, "inputs": inputs, "label": "L."})  # type: ignore[dict-item]


async def test_a_calculation_gives_a_record_to_cite_with_a_derivation_to_replay() -> None:
    first = calculation("sum(x)", x=["sys:a", "sys:b"])
    batch = await used(first, calculation("y / 4", y="calc:2.1"))
    assert [json.loads(content) for content in batch.contents[1:]] == [
        {"record": "calc:2.1", "amount": "1000.00", "currency": "GBP"},
        {"record": "calc:3.1", "amount": "250.00", "currency": "GBP"},
    ]
    derived = batch.state.records["calc:3.1"]
    assert derived == Record(
        "calc:3.1",
        Decimal("250.00"),
        "GBP",
        text="L.",
        derivation='{"expression": "y / 4", "inputs": {"y": "calc:2.1"}}',
    )


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (calculation("a + e", a="sys:a", e="sys:e"), "1250.00 GBP cannot be added to 5 EUR"),
        (calculation("t", t="sys:t"), "record 'sys:t' has no amount"),
        (calculation("sum(x)", x=["sys:a"] * 2001), "a list has 2001 records: give at most 2000, and add"),
        (calculation("x", x="sys:aa"), "there is no record 'sys:aa' in this session. Did you mean 'sys:a'?"),
        (calculation("x", x=["sys:a", "q"]), "there is no record 'q' in this session. Tools give the ids"),
        (Call("calculate", {"expression": ""}), 'The arguments do not fit calculate:\n- expression: got ""'),
        (
            Call("calculate", {"expression": "1" * 1001}),
            "The arguments do not fit calculate:\n- expression: got",
        ),
    ],
)
async def test_a_calculation_that_cannot_be_done_says_why(call: Call, told: str) -> None:
    batch = await used(call)
    assert batch.results[-1].error
    assert batch.contents[-1].startswith(told)
    assert len(batch.state.records) == 4


# tasks and links


async def test_the_task_list_is_replaced_whole_and_recorded() -> None:
    first = Call("tasks", {"items": [{"title": "A", "status": "active"}, {"title": "B"}], "confidence": 0.25})
    second = Call("tasks", {"items": [{"title": "A", "status": "done"}]})
    async with World().ran(Step(calls=[first]), Step(calls=[second]), "done") as batch:
        facts = [row.fact async for row in batch.engine.store.journal.read("s")]
    assert [fact for fact in facts if isinstance(fact, TasksSet)] == [
        TasksSet((Task("A", "active"), Task("B", "pending")), 0.25),
        TasksSet((Task("A", "done"),), None),
    ]
    assert (batch.state.tasks, batch.state.confidence) == ((Task("A", "done"),), None)
    assert batch.contents == ["2 tasks, 2 open.", "1 tasks, 0 open."]


@pytest.mark.parametrize(
    "arguments",
    [
        {"items": [{"title": ""}]},
        {"items": [{"title": "x", "status": "later"}]},
        {"items": [], "confidence": 2},
        {"items": [{"title": "x"}] * 101},
        {},
    ],
)
async def test_a_task_list_that_does_not_fit_changes_nothing(arguments: Given) -> None:
    batch = await used(Call("tasks", {"items": [{"title": "A"}]}), Call("tasks", dict(arguments)))
    assert batch.results[-1].error
    assert batch.state.tasks == (Task("A", "pending"),)


async def test_a_figure_is_linked_to_known_records_only() -> None:
    batch = await used(
        Call("link_records", {"figure": "1,000.00 GBP", "records": ["sys:a", "sys:b"]}),
        Call("link_records", {"figure": "5 EUR", "records": ["sys:e", "sys:x"]}),
    )
    linked, refused = batch.contents[1:]
    assert linked == "1,000.00 GBP is linked to 2 records."
    assert refused.startswith("there is no record 'sys:x' in this session. Did you mean 'sys:")
    assert batch.state.links == {"1,000.00 GBP": ("sys:a", "sys:b")}


# search


async def test_search_finds_tools_records_and_outputs_by_words_best_first() -> None:
    batch = await used(
        Call("search", {"query": "rent september"}),
        Call("search", {"query": "records", "where": "tools"}),
        Call("search", {"query": "zzz"}),
        Call("search", {"query": "!?"}),
    )
    assert batch.contents[1] == "record sys:a:  1250.00 GBP Rent, September"
    assert batch.contents[2].splitlines()[0].startswith("tool ")
    assert "tool sys__records: Does records." in batch.contents[2].splitlines()
    assert batch.contents[3:] == ["nothing found for 'zzz' in all", "nothing found for '!?' in all"]


async def test_search_looks_into_stored_outputs() -> None:
    async def much(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("\n".join(f"line {n} of acme" for n in range(5_000)))

    batch = await World([async_tool(much)]).run(
        Step(calls=[invoke("it")]),
        Step(calls=[Call("search", {"query": "4711 acme", "where": "outputs"})]),
        "done",
    )
    assert batch.contents[1].splitlines()[0] == "output result/1.1: line 4711 of acme"
    assert len(batch.contents[1].splitlines()) == 20


# read and write_file


async def read(batch_text: str, *calls: Call) -> list[str]:
    async def text(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput(
            "see", attachments=(Attachment("t.txt", batch_text.encode("utf-8", "surrogatepass")),)
        )

    batch = await World([async_tool(text)]).run(
        Step(calls=[invoke("it")]), *(Step(calls=[call]) for call in calls), "done"
    )
    return batch.contents[1:]


def _read(**arguments: JsonValue) -> Call:
    return Call("read", {"source": "result/1.1/t.txt", **arguments})


async def test_a_handle_is_read_by_range_and_by_search() -> None:
    text = "".join(f"line {n}\n" for n in range(100))
    at = text.index("line 42")
    assert await read(
        text,
        _read(offset=7, length=14),
        _read(offset=890, length=100),
        _read(offset=5000),
        _read(search="LINE 42"),
        _read(search="absent"),
    ) == [
        "[result/1.1/t.txt: characters 7 to 21 of 790]\nline 1\nline 2\n",
        "[result/1.1/t.txt: characters 890 to 890 of 790]\n",
        "[result/1.1/t.txt: characters 5000 to 5000 of 790]\n",
        f"'LINE 42' occurs in result/1.1/t.txt, 1 times shown:\nat {at}: ...{text[at - 120 : at + 127]}...",
        "'absent' does not occur in result/1.1/t.txt (790 characters).",
    ]


async def test_a_search_in_a_handle_shows_so_many_places_and_says_that_there_are_more() -> None:
    (content,) = await read("x" * 100, _read(search="x"))
    assert content.startswith("'x' occurs in result/1.1/t.txt, 20 times shown (there are more):\nat 0: ...")


@given(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60), st.integers(0, 70), st.integers(1, 70)
)
async def test_a_range_is_the_same_of_the_text_whatever_it_holds(text: str, offset: int, length: int) -> None:
    (content,) = await read(text, _read(offset=offset, length=length))
    assert content.partition("\n")[2] == scrub(text[offset : offset + length])


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("result/9.9", "there is no handle 'result/9.9' in this session. Handles: none yet"),
        ("/etc/passwd", "there is no handle '/etc/passwd' in this session."),
    ],
)
async def test_a_handle_that_the_session_does_not_have_is_told(source: str, told: str) -> None:
    (content,) = (await used(Call("read", {"source": source}))).contents[1:]
    assert content.startswith(told)


async def test_what_is_no_text_is_said_to_be_none_and_a_picture_is_shown() -> None:
    async def both(arguments: Given, context: ToolContext) -> ToolOutput:
        files = (Attachment("b", b"\xff\xfe"), Attachment("p", b"\x89PNG", "image/png"))
        return ToolOutput("see", attachments=files)

    batch = await World([async_tool(both)]).run(
        Step(calls=[invoke("it")]),
        Step(calls=[Call("read", {"source": f"result/1.1/{name}"}) for name in "bp"]),
        "done",
    )
    assert batch.contents[1] == "result/1.1/b is no UTF-8 text (2 bytes): give it to a tool that reads it"
    assert batch.results[2].media == (Media("image/png", "iVBORw==", "result_1.1_p"),)


async def test_a_workspace_file_is_written_read_and_replaced(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "made" / "later")
    batch = await used(
        Call("write_file", {"path": "notes/a.txt", "text": "one é"}),
        Call("read", {"source": "notes/a.txt"}),
        Call("write_file", {"path": "notes/../notes/a.txt", "text": ""}),
        Call("read", {"source": "./notes/a.txt"}),
        Call("read", {"source": "b.txt"}),
        workspace=workspace,
    )
    assert batch.contents[1:] == [
        "notes/a.txt: 6 bytes written.",
        "[notes/a.txt: characters 0 to 5 of 5]\none é",
        "notes/../notes/a.txt: 0 bytes written.",
        "[./notes/a.txt: characters 0 to 0 of 0]\n",
        "there is no file 'b.txt'. There are: notes/a.txt",
    ]
    assert workspace.files() == ["notes/a.txt"]


async def test_without_a_workspace_nothing_is_written() -> None:
    (content,) = (await used(Call("write_file", {"path": "a", "text": "x"}))).contents[1:]
    assert content == "this session has no workspace to write to"


@pytest.fixture
def fenced(tmp_path: Path) -> Workspace:
    """A workspace with links that lead out of it, beside a file that nobody may touch."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "inside.txt").write_text("inside")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "dangling").symlink_to(tmp_path / "outside" / "new.txt")
    (root / "loop").symlink_to(root / "loop")
    (root / "fine").symlink_to(root / "inside.txt")
    (root / ".draft.txt.offing-draft").symlink_to(tmp_path / "secret.txt")
    return Workspace(root)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "link.txt",
        "up/secret.txt",
        "up/outside/x",
        "dangling",
        "loop",
        "\x00",
        "x" * 5000,
        ".",
        "a/..",
    ],
)
def test_no_path_leads_out_of_the_workspace(fenced: Workspace, path: str) -> None:
    with pytest.raises((WorkspaceError, OSError)):
        fenced.read(path)
    with pytest.raises((WorkspaceError, OSError)):
        fenced.write(path, "overwritten")
    outer = fenced.root.parent
    assert (outer / "secret.txt").read_text() == "secret"
    assert list((outer / "outside").iterdir()) == []


def test_a_link_in_the_place_of_a_draft_is_not_written_through(fenced: Workspace) -> None:
    fenced.write("draft.txt", "mine")
    assert (fenced.root / "draft.txt").read_text() == "mine"
    assert (fenced.root.parent / "secret.txt").read_text() == "secret"


def test_a_link_that_stays_inside_is_followed(fenced: Workspace) -> None:
    assert fenced.read("fine") == b"inside"
    fenced.write("fine", "new")
    assert fenced.read("inside.txt") == b"new"


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=20) | st.text("./ax", max_size=12))
def test_any_path_stays_inside_or_is_refused(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    outer = tmp_path_factory.getbasetemp() / "paths"
    root = outer / "root"
    root.mkdir(parents=True, exist_ok=True)
    with suppress(WorkspaceError, OSError):
        Workspace(root).write(path, "x")
    assert [one.name for one in outer.iterdir()] == ["root"]
