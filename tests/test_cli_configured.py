"""The command over an `offing.yaml`, as a person uses it, over a module of the user's own."""

import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from offing.engine.cli.exits import MEANING
from offing.engine.cli.main import main
from offing.engine.cli.table import COMMANDS
from shop import set_up

OFFING = [sys.executable, "-m", "offing.engine.cli"]
Said = pytest.CaptureFixture[str]
Offing = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OFFING_MODEL", raising=False)
    monkeypatch.setenv("LOGNAME", "ada")
    set_up(tmp_path)
    return tmp_path


@pytest.fixture
def offing(folder: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> Offing:
    """Runs a command in this process; gives what it says, and checks its exit code."""

    def run(*arguments: str, code: int = 0, typed: str = "") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        given = main(arguments)
        said = capsys.readouterr()
        assert (given, said.err if given in {0, 3} else "") == (code, ""), said
        return said.out + said.err

    return run


def test_the_first_screen_says_what_is_next_here(folder: Path, offing: Offing) -> None:
    assert "Here: offing.yaml is there. `offing models` says which key" in offing()
    (folder / "offing.yaml").unlink()
    assert "so `offing demo` or `offing init` is next." in offing()


def test_every_command_has_help_and_says_its_exit_codes_where_they_differ(capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert [command.name for command in COMMANDS if f"\n    {command.name}" not in said] == []
    assert [text for text in MEANING.values() if text not in said] == []


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_wrong_usage_of_any_command_ends_with_2(name: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--no-such-option"])
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_page_has_the_exit_codes_as_the_help_does() -> None:
    page = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
    assert [code for code, meaning in MEANING.items() if f"| {code} | {meaning} |" not in page] == []


def test_the_version_is_told(capsys: Said) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "offing 0.1.0\n")


def test_init_writes_a_file_once_and_never_over_one(folder: Path, offing: Offing) -> None:
    kept = (folder / "offing.yaml").read_text()
    assert offing("init", code=2) == "offing: offing.yaml is there already: it is left as it is\n"
    assert (folder / "offing.yaml").read_text() == kept
    (folder / "offing.yaml").unlink()
    assert offing("init").splitlines()[0].startswith("written: offing.yaml, and .offing/offing.schema.json")
    assert json.loads((folder / ".offing" / "offing.schema.json").read_text()) == json.loads(
        offing("init", "--schema")
    )
    assert "names no namespaces" in offing("namespaces", "list")


def test_run_works_over_the_file_and_waits_for_a_person(folder: Path, offing: Offing) -> None:
    said = offing("run", "please close it")
    run = said.split()[1]
    assert f"offing approve {run} 1.1\n" in said
    assert "waits: call 1.1, shop__close" in offing("runs", "--waiting")
    assert f"{'shop__close'}, call 1.1, is approved by ada" in offing("approve", run)
    assert "It says: closed Ada" in offing("resume", run)
    assert offing("runs", "--waiting") == "nothing waits for anybody\n"


def test_a_run_goes_on_from_another_folder_by_the_file_it_began_with(
    folder: Path, offing: Offing, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = offing("run", "please close it").split()[1]
    offing("deny", run, "--reason", "not today")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert "there is no run" in offing("resume", run, code=1)
    said = offing("resume", run, "--config", "../offing.yaml")
    assert "It says: Not approved" in said or "denied" in said
    (folder / "offing.yaml").rename(folder / "gone.yaml")
    told = offing("resume", run, "--store", "../.offing/offing.db", code=2)
    assert "the session was opened with" in told
    assert "name it with --config" in told


def test_options_count_before_the_file(folder: Path, offing: Offing) -> None:
    (folder / "other.db").parent.mkdir(exist_ok=True)
    said = offing("run", "find", "--store", "other.db", "--model", "playbook:shop_of_tests:nobody", code=2)
    assert "no model 'playbook:shop_of_tests:nobody'" in said
    run = offing("run", "find", "--store", "other.db", "--max-calls", "1", code=3).split()[1]
    assert "budget: 1 of 1 model calls" in offing("show", run, "--store", "other.db")
    assert not (folder / ".offing").exists()


def test_json_is_one_event_a_line_and_the_result_last(offing: Offing) -> None:
    events = [json.loads(line) for line in offing("run", "find", "--json").splitlines()]
    names = [each["event"] for each in events]
    assert names[0] == "run"
    assert names[-1] == "result"
    assert {"RunStarted", "ReplyFinished", "CallFinished", "RunStopped"} <= set(names)
    assert events[-1]["why"] == "answered"
    assert [each["run"] for each in map(json.loads, offing("runs", "--json").splitlines())] == [
        events[0]["run"]
    ]


def test_a_run_is_shown_call_by_call(offing: Offing) -> None:
    run = offing("run", "find Ada").split()[1]
    shown = offing("show", run)
    assert shown.startswith(f"run {run}: answered\nbegun ")
    body = re.sub(r"process \d+ on \S+", "process 1 on here", shown.split("\n\n", 1)[1])
    assert body == (
        "> find Ada\n"
        "       driven by process 1 on here\n"
        "iteration 1\n"
        "  reply: 0 tokens read, 0 written\n"
        '   1.1 shop__find {"name": "Ada"}\n'
        '   1.1 = {"name":"Ada","iban":"DE12"}\n'
        "iteration 2\n"
        "  reply: 0 tokens read, 0 written\n"
        '       Found {"name":"Ada","iban":"DE12"}\n'
        "  stopped, answered\n"
        "\n"
        'Found {"name":"Ada","iban":"DE12"}\n'
        f"one call whole: offing show {run} --full CALL\n"
    )
    whole = json.loads(offing("show", run, "--json"))
    assert [each["kind"] for each in whole["facts"]][:3] == ["opened", "began", "resumed"]
    assert whole["result"]["answer"] == 'Found {"name":"Ada","iban":"DE12"}'
    assert offing("show", run, "--full", "1.1") == (
        '1.1 shop__find\n{"name": "Ada"}\n\n{"name":"Ada","iban":"DE12"}\n'
    )
    assert "has no call '7.7': there are 1.1" in offing("show", run, "--full", "7.7", code=1)
    assert "`offing runs` lists what is there" in offing("show", "nobody.1", code=1)


def test_namespaces_are_listed_shown_called_and_dumped(folder: Path, offing: Offing) -> None:
    assert offing("namespaces", "list") == "shop           4 tools\n"
    assert "close                        once, needs approval   Closes" in offing(
        "namespaces", "show", "shop"
    )
    assert '"required": [\n    "name"\n  ]' in offing("namespaces", "show", "shop", "find")
    assert json.loads(offing("namespaces", "call", "shop", "find", "name=Bo")) == {
        "name": "Bo",
        "iban": "DE12",
    }
    assert "closed Bo" in offing("namespaces", "call", "shop", "close", '{"name": "Bo"}', "--yes")
    assert "say so with --yes" in offing("namespaces", "call", "shop", "close", "name=Bo", code=2)
    assert "nam" in offing("namespaces", "call", "shop", "find", "nam=Bo", code=2)
    assert "the shop is shut" in offing("namespaces", "call", "shop", "broken", "name=Bo", code=1)
    assert "there is no namespace 'shp'" in offing("namespaces", "show", "shp", code=2)
    offing("namespaces", "dump", "shop", "shop.json")
    assert [each["name"] for each in json.loads((folder / "shop.json").read_text())["tools"]] == [
        "broken",
        "close",
        "find",
        "hang",
    ]


def test_a_namespace_that_does_not_connect_is_told_with_the_reason(folder: Path, offing: Offing) -> None:
    with (folder / "offing.yaml").open("a") as file:
        file.write("  gone: {kind: mcp, command: [no-such-program-here]}\n")
    said = offing("namespaces", "list", code=1).splitlines()
    assert said[0] == "shop           4 tools"
    assert said[1].startswith("gone           not connected: ")


def test_skills_are_listed_shown_and_checked(folder: Path, offing: Offing) -> None:
    assert "period-end-reconciliation" in offing("skills", "list")
    assert "# " in offing("skills", "show", "batched-deposits")
    assert "nearest are" in offing("skills", "show", "batched-deposit", code=2)
    (folder / "mine").mkdir()
    (folder / "mine" / "SKILL.md").write_text("---\nname: mine\ndescription: Mine.\n---\nDo it.\n")
    assert offing("skills", "validate", "mine") == "mine: right\n"
    (folder / "mine" / "SKILL.md").write_text("---\nname: other\ndescription: Mine.\n---\nDo it.\n")
    assert "mine: " in offing("skills", "validate", "mine", code=1)


def test_what_is_remembered_is_listed_searched_and_forgotten(offing: Offing) -> None:
    assert offing("run", "remember this").splitlines()[-1].startswith("Remembered as m")
    assert "Ada likes short answers" in offing("run", "recall it")
    [item] = map(json.loads, offing("memory", "list", "--json").splitlines())
    assert (item["user"], item["text"]) == ("ada", "Ada likes short answers")
    assert offing("memory", "search", "nothing alike", "--user", "ada") == "nothing is remembered that fits\n"
    assert item["id"] in offing("memory", "search", "short")
    assert "say what is to be forgotten" in offing("memory", "forget", code=2)
    assert offing("memory", "forget", item["id"]) == "1 forgotten\n"
    assert offing("memory", "forget", item["id"], code=1) == "0 forgotten\n"
    assert offing("memory", "list") == "nothing is remembered\n"


def test_a_piped_conversation_is_plain_lines_and_decides_inline(offing: Offing) -> None:
    typed = "find\nplease close it\nnot now\nwhich month\n2\n/cost\n/tasks\n/where\n/help\n/resume\n"
    said = offing("chat", "mine", typed=typed)
    assert "\x1b" not in said
    assert said.startswith("session mine; /help says what else can be said, /quit ends\n> find\n")
    assert "Approve? yes, no, or why not; nothing to leave it open: not now" in said
    assert "3.1 denied by ada" in said
    assert "You said September." in said
    assert "session mine, last run mine.3" in said
    assert said.endswith("go on with: offing chat mine\n")


def test_a_conversation_goes_on_with_what_was_left_open(offing: Offing) -> None:
    left = offing("chat", "mine", typed="please close it\n")
    assert "Go on with /resume, or later with: offing resume mine.1" in left
    said = offing("chat", "mine", typed="yes\n")
    assert "run mine.1 waits for you: please close it" in said
    assert "It says: closed Ada" in said


@pytest.mark.parametrize("name", ["a b", "x" * 65])
def test_a_session_with_a_name_that_cannot_be_is_refused(offing: Offing, name: str) -> None:
    assert "a session cannot be called" in offing("chat", name, code=2)


class Terminal:
    """Somebody at a terminal: waits for what is shown, then types."""

    def __init__(self, *arguments: str) -> None:
        self._seen = ""
        self._terminal, below = pty.openpty()
        environment = os.environ | {"TERM": "dumb", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            [*OFFING, *arguments],
            stdin=below,
            stdout=below,
            stderr=below,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(below)

    def until(self, text: str) -> str:
        while text not in self._seen:
            ready, _, _ = select.select([self._terminal], [], [], 60)
            assert ready, f"{text!r} was not shown: {self._seen!r}"
            self._seen += os.read(self._terminal, 65536).decode()
        before, _, self._seen = self._seen.partition(text)
        return before

    def types(self, text: str) -> None:
        os.write(self._terminal, f"{text}\n".encode())

    def end(self) -> int:
        code = self.process.wait(60)
        os.close(self._terminal)
        return code


def test_at_a_terminal_one_talks_approves_and_leaves(folder: Path) -> None:
    terminal = Terminal("chat", "mine")
    terminal.until("> ")
    terminal.types("please close it")
    terminal.until("leave it open: ")
    terminal.types("yes")
    terminal.until("It says: closed Ada")
    terminal.until("> ")
    terminal.types("/quit")
    terminal.until("go on with: offing chat mine")
    assert terminal.end() == 0


def test_an_interrupt_stops_the_run_and_not_the_conversation(folder: Path) -> None:
    terminal = Terminal("chat", "mine")
    terminal.until("> ")
    terminal.types("hang")
    terminal.until("calls at work")
    terminal.process.send_signal(signal.SIGINT)
    terminal.until("The run stopped (cancelled)")
    terminal.until("> ")
    terminal.types("find")
    terminal.until("Found ")
    terminal.until("> ")
    terminal.types("/quit")
    assert terminal.end() == 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_options(offing: Offing, shell: str) -> None:
    script = offing("completion", shell)
    assert [command.name for command in COMMANDS if command.name not in script] == []
    assert "max-calls" in script


def test_bash_completes_a_command(folder: Path, offing: Offing) -> None:
    (folder / "offing.bash").write_text(offing("completion", "bash"))
    ask = "COMP_WORDS=(offing res); COMP_CWORD=1; _shtab_offing; echo ${COMPREPLY[@]}"
    done = subprocess.run(
        ["bash", "-c", f"source offing.bash; {ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "resume\n"


def test_the_models_of_the_file_are_told(offing: Offing) -> None:
    assert offing("models", "--config", "offing.yaml").startswith(
        "playbook:shop_of_tests:work (what `offing run` uses)\n  a playbook of your own"
    )


def test_reconcile_takes_its_files_from_the_configuration(folder: Path, offing: Offing) -> None:
    assert "there is nothing to reconcile: name files with --bank" in offing("reconcile", code=2)
    (folder / "b.csv").write_text(
        "Date,Description,Amount\n2026-09-14,Rent,-900.00\n2026-09-30,Sales,1200.00\n"
    )
    (folder / "gl.csv").write_text(
        "Date,Account,Description,Amount\n"
        "2026-09-14,1200 Bank,Rent,-900.00\n"
        "2026-09-30,1200 Bank,Sales,1200.00\n"
    )
    with (folder / "offing.yaml").open("a") as file:
        file.write("  bank: {files: b.csv, currency: EUR}\n  ledger: {files: gl.csv, currency: EUR}\n")
    said = json.loads(offing("reconcile", "--json", code=3))
    assert (folder / "offing-statement" / "statement-2026-09.csv").is_file()
    assert [each["bank_account"] for each in said["accounts"]] == ["b"]


def test_a_file_that_is_wrong_ends_with_2_and_its_lines(folder: Path, offing: Offing) -> None:
    (folder / "offing.yaml").write_text("modle: x\nlimits: {iterations: x}\n")
    for command in (["run", "x"], ["chat"], ["runs"], ["skills", "list"], ["namespaces", "list"], ["models"]):
        if command == ["models"]:
            command = ["models", "--config", "offing.yaml"]
        assert offing(*command, code=2) == (
            "offing.yaml:1: modle: is no key; did you mean 'model'?\n"
            'offing.yaml:2: limits.iterations: cannot be "x": a whole number, such as 5\n'
        )
