"""From the command line: what a run may spend, and a person's words with which it goes on."""

import re
from pathlib import Path

import pytest

from command import offing_here
from loopback import Answer, Loopback, Text, ToolUse
from test_cli import offing

LISTING = Answer([ToolUse("bank__invoke_tool", {"tool": "list_transactions", "arguments": {}})])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OFFING_MODEL", raising=False)
    (tmp_path / "own.csv").write_text("Date,Description,Amount\n2026-09-14,Rent,-900.00\n")
    return tmp_path


def test_a_run_stops_at_its_budget_and_goes_on_with_more_and_with_guidance(folder: Path) -> None:
    with Loopback([LISTING, Answer([Text("Rent was 900.00 [[bank:txn/2026-09-14/L2]].")])]) as server:
        keys = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        own = ("--bank", "own.csv", "--currency", "EUR")
        done = offing("run", "What was the rent?", *own, "--max-calls", "1", "--budget-usd", "2.50", **keys)
        assert done.returncode == 3
        assert "The run stopped (budget): the budget of 1 model calls is used up" in done.stdout
        [run] = re.findall(
            r"Go on with: offing resume (\S+) --budget-usd AMOUNT, or --max-calls N", done.stdout
        )
        again = offing_here("resume", run, **keys)
        assert (again.returncode, len(server.requests)) == (3, 1)
        words = ("--guidance", "Only what was paid to the landlord.", "--by", "ann")
        last = offing("resume", run, "--max-calls", "3", *words, **keys)
        assert (last.returncode, last.stderr) == (0, "")
        assert "ann says: Only what was paid to the landlord." in last.stdout
        assert "Rent was 900.00 [1]." in last.stdout
        assert b"Only what was paid to the landlord." in server.requests[1].body
        assert server.refusals == []


@pytest.mark.parametrize(
    ("option", "value"), [("--budget-usd", "-1"), ("--budget-usd", "nan"), ("--max-calls", "1.5")]
)
def test_an_amount_that_bounds_nothing_ends_with_2(folder: Path, option: str, value: str) -> None:
    done = offing_here("run", "x", f"{option}={value}")
    assert done.returncode == 2
    assert f"{value!r} is no " in done.stderr
