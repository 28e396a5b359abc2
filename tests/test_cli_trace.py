"""`offing trace` and `offing report`: a run as its file has it, and as its journal has without one."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from command import offing_here
from offing.tracing import otlp_json
from test_tracing_page import Read

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PLAYBOOK = """
from offing.engine import Call

async def work(book, text):
    await book.calls(Call("tasks", {"items": [{"title": "Look", "status": "active"}]}))
    await book.calls(Call("bank__list_acounts", {}), Call("read", {"path": "nothing.txt"}))
    return "Done."
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run was worked on: its second iteration goes wrong."""
    here = tmp_path_factory.mktemp("work")
    (here / "plays.py").write_text(PLAYBOOK)
    (here / "offing.yaml").write_text("model: playbook:plays:work\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        done = offing_here("run", "Look <b>into</b> it.")
    assert done.returncode == 0, done.stderr
    return here


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def the_run() -> str:
    told = json.loads(offing_here("runs", "--json").stdout.splitlines()[-1])
    return str(told["run"])


def names(lines: Sequence[str]) -> list[str]:
    """What the lines of a tree name, without figures."""
    return [line.lstrip("│├└─ ").split("  ")[0] for line in lines]


TREE = [
    "invoke_agent offing",
    "iteration 1",
    "chat playbook:plays:work",
    "execute_tool tasks",
    "iteration 2",
    "chat playbook:plays:work",
    "✗ execute_tool bank__list_acounts",
    "✗ execute_tool read",
    "iteration 3",
    "chat playbook:plays:work",
    "check answer",
]


def test_a_run_is_a_tree_that_says_where_to_go_on_another_way() -> None:
    run = the_run()
    *tree, trace, fork = offing_here("trace", run).stdout.splitlines()
    assert [name for name in names(tree) if name != "check answer"] == TREE[:-1]
    assert fork == f"to go on another way from before iteration 2: offing fork {run} --at 1"
    (file,) = Path(".offing").rglob("*.jsonl")
    assert trace == f"trace {file.stem}"


def test_only_what_failed_or_is_of_a_tool_or_slow_is_drawn() -> None:
    run = the_run()
    failed = names(offing_here("trace", run, "--failed").stdout.splitlines())[:-2]
    assert failed == ["invoke_agent offing", "iteration 2", *TREE[6:8]]
    of_tool = names(offing_here("trace", run, "--tool", "TASKS").stdout.splitlines())[:-2]
    assert of_tool == ["invoke_agent offing", "iteration 1", "execute_tool tasks"]
    slowest = names(offing_here("trace", run, "--slowest", "1").stdout.splitlines())[:-2]
    assert len(slowest) == 3
    nothing = offing_here("trace", run, "--tool", "no such").stdout.splitlines()
    assert nothing[0] == "nothing of it is like that"


def test_as_json_it_is_the_spans_of_its_file_with_what_was_said() -> None:
    run = the_run()
    lines = offing_here("trace", run, "--json").stdout.splitlines()
    spans = [span for line in lines for span in otlp_json.spans_of(line)]
    (file,) = Path(".offing").rglob("*.jsonl")
    filed = [span for line in file.read_text().splitlines() for span in otlp_json.spans_of(line)]
    assert {(span.id, span.start_us, span.end_us) for span in spans} == {
        (span.id, span.start_us, span.end_us) for span in filed
    }
    assert "nothing.txt" in "".join(lines)
    assert "nothing.txt" not in file.read_text()  # content is opt-in, and the journal has it anyway


def test_without_a_file_the_journal_alone_gives_the_tree() -> None:
    run = the_run()
    with_file = names(offing_here("trace", run).stdout.splitlines())
    (file,) = Path(".offing").rglob("*.jsonl")
    aside = file.rename(file.with_suffix(".aside"))
    without = names(offing_here("trace", run).stdout.splitlines())
    aside.rename(file)
    assert with_file == without


def test_a_run_that_is_not_there_is_an_error_in_words() -> None:
    for command in ("trace", "report"):
        done = offing_here(command, "nobody.1")
        assert (done.returncode, done.stdout) == (1, "")
        assert "there is no run 'nobody.1'" in done.stderr


def test_a_report_is_markdown_on_the_screen_and_a_page_in_a_file(tmp_path: Path) -> None:
    run = the_run()
    assert offing_here("report", run).stdout == "Done.\n"
    page = tmp_path / "page.html"
    assert offing_here("report", run, "--html", "--out", str(page)).stdout == f"written: {page}\n"
    read = Read(page.read_text())
    assert read.open == []
    text = " ".join(read.text)
    for told in (
        "Look <b>into</b> it.",
        "Done.",
        f"offing fork {run} --at 1",
        "execute_tool read",
        "Timeline",
    ):
        assert told in text
    missing = offing_here("report", run, "--html", "--out", str(tmp_path / "no" / "page.html"))
    assert missing.returncode == 2
    assert "cannot write" in missing.stderr


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed: the page is not opened in a browser")
def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    offing_here("report", the_run(), "--html", "--out", str(page))
    done = subprocess.run(
        [str(CHROMIUM), *QUIET, f"--user-data-dir={tmp_path}/browser", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    rendered = Read(done.stdout.partition("<html")[1] + done.stdout.partition("<html")[2])
    assert "Look <b>into</b> it." in " ".join(rendered.text)
    assert rendered.tags.count("summary") == len(
        offing_here("trace", the_run(), "--json").stdout.splitlines()
    )


def test_a_configuration_can_say_that_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plays.py").write_text(PLAYBOOK)
    Path("offing.yaml").write_text("model: playbook:plays:work\ntracing: {files: false}\n")
    assert offing_here("run", "Look.").returncode == 0
    assert list(tmp_path.rglob("*.jsonl")) == []
    assert names(offing_here("trace", the_run()).stdout.splitlines())[0] == "invoke_agent offing"


def test_what_is_forgotten_is_forgotten_with_its_traces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plays.py").write_text(PLAYBOOK)
    Path("offing.yaml").write_text("model: playbook:plays:work\n")
    assert offing_here("run", "Look.").returncode == 0
    (file,) = tmp_path.rglob("*.jsonl")
    nobodys = file.with_name(f"{'0' * 32}.jsonl")
    nobodys.write_text("{}\n")
    long_ago = time.time() - 9 * 86_400
    for each in (file, nobodys):
        os.utime(each, (long_ago, long_ago))
    assert "0 artifacts and 1 traces removed" in offing_here("sweep").stdout
    assert list(tmp_path.rglob("*.jsonl")) == [file]
    assert offing_here("forget", "--yes").returncode == 0
    assert list(tmp_path.rglob("*.jsonl")) == []
