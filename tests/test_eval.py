"""Scenarios have one right answer each, and `offing eval` shows who gives it, side by side."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from command import offing_here
from loopback import Answer, HttpError, Loopback, Text, in_order
from loopback import Usage as Counted
from offing.engine import Engine, Scripted
from offing.engine.cli.main import main
from offing.engine.cli.parts.eval import STAND_INS, Contestant, contestants, evaluate, scenarios_named
from offing.engine.cli.scenarios import SCENARIOS, Scenario
from offing.engine.cli.screen import Screen
from offing.engine.errors import ConfigurationError

pytestmark = pytest.mark.anyio

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)


async def shown(rivals: Sequence[Contestant], *names: str) -> list[str]:
    out = io.StringIO()
    assert await evaluate(rivals, scenarios_named(names), Screen(out)) == 0
    return out.getvalue().splitlines()


async def test_the_table_shows_the_difference_between_a_careful_and_a_hasty_model() -> None:
    lines = await shown(contestants([], []))
    assert [line.rstrip() for line in lines[:9]] == [
        "            |              demo:careful               |               demo:hasty",
        "scenario    |     right     steps    tokens      cost |     right     steps    tokens      cost",
        "cleared     |       yes         2         0         ? |       yes         2         0         ?",
        "takings     |       yes         3         0         ? |        no         2         0         ?",
        "outstanding |       yes         3         0         ? |        no         2         0         ?",
        "difference  |       yes         2         0         ? |       yes         2         0         ?",
        "not-there   |       yes         2         0         ? |        no         2         0         ?",
        "paid-twice  |       yes         2         0         ? |        no         2         0         ?",
        "all         |       6/6        14         0         ? |       2/6        12         0         ?",
    ]
    assert [line.split(":")[0] for line in lines[10:]] == [
        "takings, demo",
        "outstanding, demo",
        "not-there, demo",
        "paid-twice, demo",
    ]


async def test_what_is_wrong_with_an_answer_is_told_field_by_field() -> None:
    lines = await shown([Contestant("demo:hasty", None)], "not-there")
    assert lines[-1] == (
        "not-there, demo:hasty: is_there is True, right is False; amount is 7871.00, right is None"
    )


@each_scenario
def test_a_right_answer_fits_however_it_is_written(scenario: Scenario) -> None:
    said = json.loads(scenario.right.model_dump_json())
    for name, value in said.items():
        if isinstance(value, list):
            said[name] = [f"[[{record}]]" for record in reversed(cast("list[str]", value))]
        elif isinstance(value, str):
            said[name] = float(value)
    answer = f"```json\n{json.dumps(said, indent=1)}\n```"
    result = Engine(Scripted([answer])).blocking.ask("?", output=type(scenario.right))
    assert scenario.differences(result) == ""


@each_scenario
def test_no_other_answer_is_right(scenario: Scenario) -> None:
    for name, value in scenario.right:
        other: object = not value if isinstance(value, bool) else Decimal("0.01")
        if isinstance(value, frozenset):
            other = frozenset(sorted(cast("frozenset[str]", value))[1:])
        answer = scenario.right.model_copy(update={name: other})
        assert scenario.differences(answer).startswith(f"{name} is ")


def test_every_model_is_judged_at_every_effort() -> None:
    assert [each.label for each in contestants(["a", "b", "a"], ["low", "high"])] == [
        "a low",
        "a high",
        "b low",
        "b high",
    ]
    assert tuple(each.label for each in contestants([], [])) == STAND_INS


def test_a_scenario_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        scenarios_named(["cleared", "clared"])
    assert str(caught.value) == (
        "no scenario 'clared': there are cleared, takings, outstanding, difference, not-there, paid-twice"
    )


# A real wire.

RIGHT = next(each for each in SCENARIOS if each.name == "cleared").right.model_dump_json()


async def test_one_model_at_two_efforts_with_tokens_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = Counted(input_tokens=1_000, output_tokens=100)
    script = [Answer([Text('{"movements": [], "net": 0}')], usage=usage), Answer([Text(RIGHT)], usage=usage)]
    with Loopback(in_order(script)) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        lines = await shown(contestants(["anthropic:claude-opus-5-5"], ["low", "high"]), "cleared")
        assert server.refusals == []
    assert [seen.json["output_config"] for seen in server.requests] == [{"effort": "low"}, {"effort": "high"}]
    # 1,000 tokens at 4 dollars a million and 100 at 20
    assert lines[2] == (
        "cleared  |        no         1     1,100   $0.0060 |       yes         1     1,100   $0.0060"
    )
    assert lines[0].split("|")[1].strip() == "anthropic:claude-opus-5-5 low"


def test_a_model_that_cannot_be_asked_is_wrong_and_the_others_are_still_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Loopback([HttpError(401, "authentication_error", "invalid x-api-key")]) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        models = ["--model", "anthropic:claude-opus-5-5", "--model", "demo:careful"]
        assert main(["eval", *models, "--scenario", "cleared"]) == 0
    told = capsys.readouterr().out
    assert "no         0         0" in told
    assert "yes         2         0" in told
    assert "gave no answer (fault)" in told


# The command.


def offing(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "offing.engine.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "ANTHROPIC_API_KEY"},
    )


def test_it_runs_without_a_key_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = offing("eval", "--scenario", "cleared", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "demo:careful" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "anthropic:claude-opus-5-5"], "needs a key: set ANTHROPIC_API_KEY"),
        (["--model", "gpt"], "no model 'gpt'"),
        (["--scenario", "nowhere"], "no scenario 'nowhere'"),
        (["--effort", "hihg"], "invalid choice: 'hihg'"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], told: str) -> None:
    done = offing_here("eval", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
