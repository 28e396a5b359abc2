"""The commands over what the journal has, as a person uses them."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loopback import Answer, Loopback, Seen, Text, ToolUse
from offing.engine.cli.main import main

Said = pytest.CaptureFixture[str]


def reply(seen: Seen) -> Answer:
    """Asks for a task list first, then answers by what came of it."""
    if seen.answered == 0:
        return Answer([ToolUse("tasks", {"items": [{"title": "Look"}]})])
    return Answer([Text("Edited." if b"nothing at all" in seen.body else "Done.")])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> Iterator[str]:
    """A run that has answered, in the store of the current folder; its provider stays reachable."""
    monkeypatch.chdir(tmp_path)
    with Loopback(reply) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert main(["run", "Go.", "--model", "anthropic:claude-opus-5-5"]) == 0
        yield capsys.readouterr().out.split()[1]


def told(capsys: Said) -> list[str]:
    return capsys.readouterr().out.strip().splitlines()


def test_a_run_is_forked_resumed_and_compared(run: str, capsys: Said) -> None:
    Path("result.txt").write_text("nothing at all")
    assert main(["fork", run, "--at", "1", "--edit-result", "1.1", "result.txt", "--session", "f"]) == 0
    assert told(capsys) == ["run f.1 in stream f", "go on with: offing resume f.1"]
    assert main(["resume", "f.1"]) == 0
    assert told(capsys)[-1] == "Edited."
    assert main(["diff", run, "f.1"]) == 3
    assert told(capsys)[1] == "iteration 1, result"
    assert main(["diff", run, "f.1", "--json"]) == 3
    parts = [one["part"] for one in json.loads(capsys.readouterr().out)["differences"]]
    assert parts[0] == "result"
    assert "reply" in parts
    assert main(["diff", run, run]) == 0


def test_another_message_and_another_model_go_on_where_the_fork_says(run: str, capsys: Said) -> None:
    name = "anthropic:claude-haiku-4-5"
    asked = ["--at", "0", "--edit-message", "Do nothing at all.", "--model", name, "--session", "f"]
    assert main(["fork", run, *asked]) == 0
    assert main(["resume", "f.1"]) == 0
    assert told(capsys)[-1] == "Edited."
    with closing(sqlite3.connect(".offing/offing.db")) as connection:
        (body,) = connection.execute(
            "select body from fact where kind='replied' order by stream desc"
        ).fetchone()
    assert json.loads(body)["reply"]["message"]["raw"]["model"] == "claude-haiku-4-5"


def test_a_rollback_leads_the_session_on_and_keeps_what_was(run: str, capsys: Said) -> None:
    session = run.partition(".")[0]
    assert main(["rollback", run, "--at", "1"]) == 0
    assert told(capsys)[0] == f"run {run} in stream {session}~1"
    assert main(["resume", run]) == 0
    assert told(capsys)[-1] == "Done."
    assert main(["diff", f"{session}~0.1", run]) == 0


def test_a_run_is_replayed_without_a_key_and_its_bodies_are_written(
    run: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert main(["replay", run, "--out", "bodies"]) == 0
    lines = told(capsys)
    assert [line.rpartition(", ")[2] for line in lines[:2]] == ["byte for byte what was sent"] * 2
    assert lines[2:] == ["every prompt is what was sent"]
    bodies = [json.loads(path.read_bytes()) for path in sorted(Path("bodies").iterdir())]
    assert [len(body["messages"]) for body in bodies] == [1, 3]


def test_a_damaged_prompt_is_told_rather_than_compared(run: str, capsys: Said) -> None:
    with closing(sqlite3.connect(".offing/offing.db")) as connection:
        connection.execute("update artifact set body=cast(body || ' ' as blob)")
        connection.commit()
    assert main(["replay", run]) == 1
    assert "is damaged" in capsys.readouterr().err


def test_a_store_is_exported_swept_and_forgotten(run: str, capsys: Said) -> None:
    assert main(["export", "all.jsonl"]) == 0
    assert main(["export", "all.jsonl"]) == 2
    assert json.loads(Path("all.jsonl").read_bytes().splitlines()[-1])["end"] == 1
    assert main(["sweep"]) == 0
    assert told(capsys)[-1] == "0 artifacts removed"
    assert main(["forget"]) == 2
    assert main(["forget", "--yes"]) == 0
    assert main(["replay", run]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["fork", "RUN", "--at", "9"], 2, "has 2 iterations: it can be forked at 0 to 2, not at 9"),
        (["fork", "RUN", "--at", "1", "--edit-result", "1.1", "none.txt"], 2, "cannot read 'none.txt'"),
        (["fork", "RUN", "--at", "1", "--session", "a.b"], 2, "a session cannot be called 'a.b'"),
        (["fork", "x.1", "--at", "1"], 1, "there is no run 'x.1'"),
        (["rollback", "x~0.1", "--at", "1"], 2, "fork 'x~0.1' instead"),
        (["diff", "RUN", "x.1"], 1, "there is no run 'x.1'"),
        (["replay", "x.1"], 1, "there is no run 'x.1'"),
        (["sweep", "--older-than", "0"], 2, "give 3600 or more"),
        (["export", "f", "--store", "none.db"], 2, "there is no store 'none.db'"),
        (["export", "no/such/folder"], 2, "cannot write 'no/such/folder'"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], code: int, said: str, run: str, capsys: Said
) -> None:
    assert main([run if word == "RUN" else word for word in arguments]) == code
    assert said in capsys.readouterr().err
