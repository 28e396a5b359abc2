"""What a release wrote, each later one reads to the same state.

`golden/journal_*.jsonl` are journals as releases wrote them, and are never changed. Beside each stands
what every one of its rows makes of the state: when such a file would have to change, the meaning of a
fact has changed, and it has to be a new kind or a new version with an upcaster instead.

    python tests/test_golden.py    writes what the rows make of the state anew
"""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from offing.compaction.conversation import Conversation
from offing.engine.models.model import StopReason
from offing.engine.run_state import RunState
from offing.engine.state import State, apply
from offing.engine.store.codec import KINDS, Body, decode, encode
from offing.engine.store.facts import Replied, Settled
from offing.engine.store.journal import Row

GOLDEN = Path(__file__).parent / "golden"
JOURNALS = sorted(GOLDEN.glob("journal_*.jsonl"))
NEWEST = JOURNALS[-1]
"""The one in which each kind of fact of today is to occur."""

_EXPANDED = (State, RunState, Conversation)
_LONGEST = 100


def lines(journal: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in journal.read_text("utf-8").splitlines()]


def bodies(journal: Path) -> list[Body]:
    return [Body(line["kind"], line["version"], line["body"].encode()) for line in lines(journal)]


def rows(journal: Path) -> list[Row]:
    placed = zip(lines(journal), bodies(journal), strict=True)
    return [Row(line["seq"], line["run"], line["at"], decode(body)) for line, body in placed]


def told(journal: Path) -> str:
    """What each row makes of the state, in words that a person can compare."""
    state = State()
    known = dict(parts(state, ""))
    said: list[str] = []
    for row in rows(journal):
        apply(state, row)
        now = dict(parts(state, ""))
        said.append(f"row {row.seq}: {type(row.fact).__name__}")
        said += [f"    {path} = {value}" for path, value in now.items() if known.get(path) != value]
        said += [f"    {path} is gone" for path in known if path not in now]
        known = now
    return "\n".join(said) + "\n"


def parts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """The parts of a state, each with where it stands."""
    if isinstance(value, _EXPANDED):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name), f"{path}.{field.name}".lstrip("."))
    elif isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            yield f"{path}[{key!r}]", shown(item)
    elif isinstance(value, list):
        for place, item in enumerate(cast("list[object]", value)):
            yield f"{path}[{place}]", shown(item)
    else:
        yield path, shown(value)


def shown(value: object) -> str:  # noqa: PLR0911  one a sort of value
    """A value, its long texts shortened and named by their digest."""
    if isinstance(value, str | bytes):
        if len(value) <= _LONGEST:
            return repr(value)
        data = value.encode() if isinstance(value, str) else value
        digest = hashlib.sha256(data).hexdigest()[:12]
        return f"{value[:40]!r}... ({len(value)} long, {digest})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(shown(item) for item in cast('set[object]', value)))}}}"
    if isinstance(value, tuple | list):
        return f"({', '.join(shown(item) for item in cast('list[object]', value))})"
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value).items()
        return f"{{{', '.join(f'{key!r}: {shown(item)}' for key, item in pairs)}}}"
    if dataclasses.is_dataclass(value):
        named = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return f"{type(value).__name__}({', '.join(f'{name}={shown(item)}' for name, item in named)})"
    return repr(value)


def snapshot(journal: Path) -> Path:
    return journal.with_name(journal.name.replace("journal", "state")).with_suffix(".txt")


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_each_row_still_means_what_it_meant(journal: Path) -> None:
    assert told(journal) == snapshot(journal).read_text("utf-8")


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_each_row_is_still_written_as_it_was(journal: Path) -> None:
    """Of those that are at today's version: a reader of the same version reads them."""
    today = [body for body in bodies(journal) if body.version == encode(_known(body)).version]
    assert [encode(_known(body)) for body in today] == today


def _known(body: Body) -> Any:  # noqa: ANN401  any fact
    return decode(body)


def test_each_kind_of_fact_occurs_in_the_newest_journal() -> None:
    assert {body.kind for body in bodies(NEWEST)} == KINDS.keys()


def test_each_kind_of_block_stop_and_detail_occurs_in_the_newest_journal() -> None:
    facts = [row.fact for row in rows(NEWEST)]
    replies = [fact.reply for fact in facts if isinstance(fact, Replied)]
    settled = [fact for fact in facts if isinstance(fact, Settled)]
    blocks = [block for reply in replies for block in reply.message.blocks]
    assert {reply.stop for reply in replies} == set(get_args(StopReason))
    assert {block.kind for block in blocks} == {"text", "reasoning", "call"}
    assert any(reply.message.raw for reply in replies)
    assert any(block.kind == "call" and block.malformed for block in blocks)
    for there in ("records", "stored", "unknown"):
        assert any(getattr(fact, there) for fact in settled), there
    assert any(fact.result.media for fact in settled)


def test_a_change_of_meaning_would_be_seen() -> None:
    """Each row leaves a trace in the snapshot beyond its place and time, but those that change nothing."""
    for said in told(NEWEST).split("row ")[1:]:
        number, *changed = said.splitlines()
        beyond = [line for line in changed if not line.strip().startswith(("seq =", "at ="))]
        assert beyond or number.endswith((": Resumed", ": Refused", ": Remembered")), number


if __name__ == "__main__":
    for each in JOURNALS:
        snapshot(each).write_text(told(each), "utf-8")
