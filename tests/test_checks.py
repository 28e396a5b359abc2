"""The checkers of `make check` hold for this tree, and see what they are there to see."""

from pathlib import Path

import pytest

from checks import record_only, rooms

ROOT = Path(__file__).parents[1]

RECORD = """
from .state import State, apply

class Run:
    async def record(self, *facts):
        await self.journal.append(self.lease, self.id, *facts)
        for fact in facts:
            apply(self.state, fact)
"""
FOLD = """
def apply(state, fact): ...

def fold(rows):
    state = State()
    for row in rows:
        apply(state, row.fact)
    return state
"""


def test_state_changes_only_where_it_is_recorded() -> None:
    assert record_only.problems(ROOT) == []


def test_every_folder_is_named_short_enough_and_shipped() -> None:
    assert rooms.problems(ROOT) == []


def test_recording_and_folding_are_allowed(tmp_path: Path) -> None:
    lay(tmp_path, {"engine/session.py": RECORD, "engine/state.py": FOLD})
    assert record_only.problems(tmp_path) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param("run.journal.append(1)", "journal.append", id="on-an-attribute"),
        pytest.param("await self._journal.append(1)", "journal.append", id="private"),
        pytest.param("await journal.append(1)", "journal.append", id="on-a-name"),
        pytest.param("store.journal().append(1)", "journal.append", id="on-a-call"),
        pytest.param("add = run.journal.append", "journal.append", id="only-a-reference"),
        pytest.param("getattr(run.journal, 'append')(1)", "journal.append", id="getattr"),
        pytest.param("book = run.journal\nbook.append(1)", "journal.append", id="assigned"),
        pytest.param("def f(b: Journal | None): b.append(1)", "journal.append", id="parameter"),
        pytest.param("b: 'Journal'\nself.b.append(1)", "journal.append", id="field"),
        pytest.param("from .state import apply\napply(s, f)", "apply", id="imported"),
        pytest.param("from ..state import apply as a\na(s, f)", "apply", id="renamed"),
        pytest.param("from . import state\nstate.apply(s, f)", "apply", id="through-its-module"),
        pytest.param("import offing.engine.state as st\nst.apply(s, f)", "apply", id="by-its-whole-name"),
        pytest.param("from .state import apply\nreduce(apply, facts)", "apply", id="handed-on"),
    ],
)
def test_a_second_way_to_change_state_is_reported(tmp_path: Path, source: str, found: str) -> None:
    body = "".join(f"    {line}\n" for line in source.splitlines())
    lay(tmp_path, {"engine/session.py": RECORD, "engine/loop.py": f"async def f():\n{body}"})
    line = 1 + len(source.splitlines())
    assert record_only.problems(tmp_path) == [
        f"engine/loop.py:{line}: {found} in {scope(source)}: only Run.record may"
    ]


def test_a_list_is_no_journal_and_another_apply_is_not_the_fold(tmp_path: Path) -> None:
    source = "from .budget import apply\nrows: list[int] = []\nrows.append(apply(1))\n"
    lay(tmp_path, {"engine/session.py": RECORD, "engine/budget.py": source})
    assert record_only.problems(tmp_path) == []


def test_a_store_may_append_but_not_apply(tmp_path: Path) -> None:
    source = "from ..state import apply\njournal.append(1)\napply(1, 2)\n"
    lay(tmp_path, {"engine/session.py": RECORD, "engine/store/sqlite.py": source})
    assert record_only.problems(tmp_path) == [
        "engine/store/sqlite.py:3: apply in the module: only Run.record may"
    ]


def test_a_second_home_and_a_lost_one_are_reported(tmp_path: Path) -> None:
    lay(tmp_path, {"engine/session.py": RECORD, "engine/children.py": RECORD})
    (second,) = record_only.problems(tmp_path)
    lay(tmp_path, {"engine/session.py": "", "engine/children.py": ""})
    (lost,) = record_only.problems(tmp_path)
    assert (second, lost) == (
        "engine: one file is to have a Run.record that appends, "
        "found ['engine/children.py', 'engine/session.py']",
        "engine: one file is to have a Run.record that appends, found []",
    )


def test_rooms_reports_each_kind_of_trouble(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "pyproject.toml": '[tool.setuptools]\npackages = ["offing.engine", "offing.skills"]\n',
            "engine/__init__.py": "",
            "engine/py.typed": "",
            "engine/long.py": "x = 1\n" * 401,
            "engine/models/__init__.py": "",
            "engine/models/py.typed": "",
            "tracing/usage.py": "",
            "tests/utils/test_it.py": "",
        },
    )
    assert rooms.problems(tmp_path) == [
        "tests/utils: the name says nothing of what is in it",
        "engine/long.py:400: 401 lines, over 400",
        "pyproject.toml: offing.skills is listed but has no folder",
        "engine/models: not among the packages in pyproject.toml",
        "tracing: not among the packages in pyproject.toml",
        "tracing: no __init__.py",
        "tracing: no py.typed",
    ]


def lay(root: Path, files: dict[str, str]) -> None:
    """Writes a small tree."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scope(source: str) -> str:
    return "f.f" if source.startswith("def ") else "f"
