"""The command, as a person uses it: in a process of its own, over real files and a real wire."""

import io
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from command import offing_here
from loopback import Answer, Loopback, Stall, Text, ToolUse
from offing.engine.cli.screen import Screen

OFFING = [sys.executable, "-m", "offing.engine.cli"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OFFING_MODEL", raising=False)
    return tmp_path


def offing(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*OFFING, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )


class Demo(NamedTuple):
    """One that nothing stopped."""

    said: str
    """Where it is piped."""
    store: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    where = tmp_path_factory.mktemp("whole")
    store = where / "offing.db"
    done = offing("demo", "--store", str(store), "--out", str(where))
    assert (done.returncode, done.stderr) == (0, "")
    return Demo(done.stdout, store)


def test_piped_progress_is_plain_lines(demo: Demo) -> None:
    assert "\x1b" not in demo.said
    assert "\r" not in demo.said
    assert "   4.1 - matching__reconcile" in demo.said


def test_on_a_terminal_the_last_line_changes_and_is_gone_in_the_end(folder: Path) -> None:
    watcher, terminal = pty.openpty()
    running = subprocess.Popen([*OFFING, "demo"], stdout=terminal, stderr=terminal)
    os.close(terminal)
    seen = b"".join(iter(lambda: _read(watcher), b""))
    assert running.wait(60) == 0
    assert b"\r\x1b[K" in seen
    assert b"calls at work" in seen
    last_lines = seen.decode().split("## Conclusion")[1]
    assert "calls at work" not in last_lines


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side has closed
        return b""


@pytest.mark.parametrize("line", ["2.2 ", "11.1 ", "19.1 "])
def test_a_killed_demo_goes_on_to_the_same_answer(folder: Path, demo: Demo, line: str) -> None:
    running = subprocess.Popen([*OFFING, "demo"], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    run = running.stdout.readline().split()[1]
    for shown in running.stdout:
        if line in shown:
            running.kill()
    running.wait()
    running.stdout.close()
    resumed = offing("resume", run)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert answer_of(resumed.stdout) == answer_of(demo.said)
    assert (folder / "offing-demo" / "statement-2026-09.xlsx").exists()


def answer_of(said: str) -> str:
    """From the answer to where it ends on the screen."""
    return said[said.index("## Conclusion") : said.index("The rest of the answer")]


def test_run_works_on_a_users_own_files_with_claude(folder: Path) -> None:
    (folder / "own.csv").write_text(
        "Date,Description,Amount\n2026-09-14,Rent,-900.00\n2026-09-30,Sales,1200.00\n"
    )
    script = [
        Answer([ToolUse("bank__invoke_tool", {"tool": "list_transactions", "arguments": {}})]),
        Answer([Text("Rent was 900.00 [[bank:txn/2026-09-14/L2]].")]),
    ]
    with Loopback(script) as server:
        done = offing(
            *("run", "What was the rent?", "--bank", "own.csv", "--currency", "EUR"),
            *("--company", "Own Ltd", "--out", "out"),
            ANTHROPIC_API_KEY="k",
            ANTHROPIC_BASE_URL=server.url,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Rent was 900.00 [1]." in done.stdout
        assert "own.csv:2" in done.stdout
        assert "Rent was 900.00 [^1]." in (folder / "out" / "report.md").read_text()
        assert b"Own Ltd" in server.requests[0].body
        assert server.refusals == []


def test_without_a_key_it_says_exactly_what_it_needs(folder: Path) -> None:
    done = offing_here("run", "What was the rent?")
    assert done.returncode == 2
    assert done.stderr == (
        "offing: anthropic:claude-opus-5-5 needs a key: set ANTHROPIC_API_KEY to one from "
        "https://platform.claude.com\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "x", "--bank", "nowhere.ofx"], "there is no file"),
        (["run", "x", "--model", "gpt"], "no model 'gpt': name one as 'anthropic:MODEL'"),
        (["run", " ", "--model", "demo"], "a message has to say something; got ' '"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_wrong_usage_names_the_value_and_ends_with_2(folder: Path, arguments: list[str], told: str) -> None:
    done = offing_here(*arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_an_unknown_run_ends_with_1(folder: Path) -> None:
    done = offing_here("resume", "nobody.1")
    assert done.returncode == 1
    assert done.stderr.startswith("offing: there is no run 'nobody.1'")


def test_a_run_of_a_later_release_ends_with_1_and_says_so(folder: Path, demo: Demo) -> None:
    store = str(shutil.copy(demo.store, folder))
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("update fact set version = 9 where kind = 'opened'")
    done = offing_here("resume", demo.said.split()[1], "--store", store)
    assert done.returncode == 1
    assert done.stderr == (
        "offing: row 1 is of kind 'opened', version 9, which this release does not know: it can be shown; "
        "to go on, use a newer release\n"
    )


def test_nothing_that_is_shown_steers_the_terminal() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    Screen(out).line("Total 5\rTotal 9 \x9b2J \x1b[2J \x7f \u202e321\r\nnext")
    assert isinstance(out.buffer, io.BytesIO)
    fit = "Total 5@Total 9 @2J @[2J @ @321\nnext\n".replace("@", "\ufffd")
    assert out.buffer.getvalue().decode() == fit


def test_what_the_terminal_cannot_show_ends_no_run() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Screen(out).line("1,250.00 \u20ac")
    assert isinstance(out.buffer, io.BytesIO)
    assert out.buffer.getvalue() == b"1,250.00 ?\n"


def test_a_store_that_cannot_be_opened_ends_with_1_and_its_name(folder: Path) -> None:
    (folder / "broken.db").write_bytes(b"this is no database" * 100)
    done = offing_here("demo", "--store", "broken.db")
    assert done.returncode == 1
    assert done.stderr.startswith("offing: cannot open the store 'broken.db': ")


def test_a_refused_request_ends_with_1_and_says_how_to_go_on(folder: Path) -> None:
    with Loopback([Answer([Text("never")])], check=False) as server:
        done = offing_here("run", "x", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=f"{server.url}/wrong")
    assert done.returncode == 1
    assert "The run stopped (fault)" in done.stdout
    assert "Go on with: offing resume " in done.stdout


def _hear_interrupts() -> None:
    """Where the tests are run in the background, a shell may have interrupts ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_tells_how_to_go_on(folder: Path) -> None:
    with Loopback([Stall()]) as server:
        environment = os.environ | {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        running = subprocess.Popen(
            [*OFFING, "run", "x"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            preexec_fn=_hear_interrupts,
        )
        assert running.stdout is not None
        run = running.stdout.readline().split()[1]
        server.wait_until(lambda seen: len(seen.requests) == 1, seconds=30)
        running.send_signal(signal.SIGINT)
        said = running.stdout.read()
        running.stdout.close()
    assert running.wait(30) == 130
    assert said == f"interrupted; go on with: offing resume {run}\n"


def test_a_reader_that_leaves_is_no_crash(folder: Path) -> None:
    done = subprocess.run(
        f"{' '.join(OFFING)} demo | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("run ")
    assert "Traceback" not in done.stderr
