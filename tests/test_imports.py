"""Importing does nothing, loads no SDK, and the public names are few."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ("engine", "namespaces", "skills", "compaction", "tracing")
LOADED_AT_FIRST_USE = {
    "anthropic",
    "httpx2",
    "jsonschema",
    "litellm",
    "mcp",
    "opentelemetry",
    "psycopg",
    "tiktoken",
    "yaml",
}

# Audit events tell of what was undone again too: a file closed and removed, a thread joined.
WATCH = """
import json, os, sys, threading

done = []
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC

def watch(event, args):
    if event == "open" and (isinstance(args[2], int) and args[2] & WRITES):
        done.append(f"opened {args[0]!r} for writing")
    elif event.split(".")[0] in {"socket", "sqlite3", "subprocess"}:
        done.append(event)
    elif event in {"os.fork", "os.mkdir", "os.putenv", "os.remove", "os.rename", "os.system"}:
        done.append(event)

def start(thread):
    done.append(f"started {thread!r}")

threading.Thread.start = start  # no audit event before Python 3.12
sys.addaudithook(watch)
for name in sys.argv[1:]:
    __import__(name)
print(json.dumps({"done": done, "threads": threading.active_count(), "loaded": [*sys.modules]}))
"""


def watched_import(cwd: Path, *modules: str) -> dict[str, list[str] | int]:
    """Imports in a new interpreter; what it did, as it saw it itself, with nothing else printed."""
    told = subprocess.run(
        [sys.executable, "-B", "-c", WATCH, *modules],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.stderr == ""
    return json.loads(told.stdout)


def modules() -> list[str]:
    """Every module of the library by its import name."""
    paths = [path for top in LIBRARY for path in (ROOT / top).rglob("*.py")]
    names = {".".join(("offing", *path.relative_to(ROOT).with_suffix("").parts)) for path in paths}
    return sorted(name.removesuffix(".__init__") for name in names if not name.endswith("__main__"))


def test_importing_the_engine_does_nothing_and_loads_no_sdk(tmp_path: Path) -> None:
    told = watched_import(tmp_path, "offing.engine")
    loaded = told.pop("loaded")
    assert isinstance(loaded, list)
    assert told == {"done": [], "threads": 1}
    assert {name.split(".")[0] for name in loaded} & LOADED_AT_FIRST_USE == set()


def test_importing_any_module_does_nothing_visible(tmp_path: Path) -> None:
    told = watched_import(tmp_path, *modules())
    assert (told["done"], told["threads"]) == ([], 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["offing.engine", "offing.namespaces"])
def test_public_names_are_few_sorted_and_there(name: str) -> None:
    package = importlib.import_module(name)
    names: list[str] = list(package.__all__)
    assert len(names) <= 20
    assert names == sorted(set(names), key=constants_classes_functions)
    assert [each for each in names if not hasattr(package, each)] == []


def constants_classes_functions(name: str) -> tuple[bool, bool, str]:
    """The order that the linter keeps `__all__` in."""
    return not name.isupper(), not name[0].isupper(), name
