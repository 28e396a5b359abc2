"""`offing eval`: the shipped scenarios, worked on by several models or at several efforts, side by side.

A new model is judged once, at the engine, by answers that are right or wrong.
"""

import argparse
import functools
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ....namespaces.tool import Namespace
from ....tracing import Usage
from ...answer import Result
from ...engine import Engine
from ...errors import AnswerInvalid, ConfigurationError
from ...limits import Limits
from ...models import model_named
from ...models.model import EFFORTS, Effort, Model
from ...models.scripted import Scripted
from ...prompt import About
from ...roles import Role, Roles
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground
from ..scenarios import SCENARIOS, Scenario
from ..screen import Screen
from ..work.systems import Systems

STAND_INS: tuple[str, ...] = ("demo:careful", "demo:hasty")
"""Playbooks that stand for models where none is named: one is always right, the other is not."""

_LIMITS = Limits(iterations=40)
"""Far more than a scenario needs; a model that is lost is to be told apart from one that costs a fortune."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who is judged."""

    model: str
    effort: Effort | None
    """None for the model's own judgement, or the engine's."""

    @property
    def label(self) -> str:
        """How it is shown."""
        return self.model if self.effort is None else f"{self.model} {self.effort}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one scenario."""

    wrong: str
    """What is wrong with the answer, or why there is none; empty when it is right."""
    steps: int
    """Model calls that gave a reply."""
    usage: Usage
    cost: Decimal | None
    """US dollars; None where unknown."""


def contestants(models: Sequence[str], efforts: Sequence[Effort]) -> tuple[Contestant, ...]:
    """Every model at every effort."""
    return tuple(
        Contestant(model, effort)
        for model in dict.fromkeys(models or STAND_INS)
        for effort in (dict.fromkeys(efforts) or (None,))
    )


def scenarios_named(names: Sequence[str]) -> tuple[Scenario, ...]:
    """The scenarios of these names; all of them without a name.

    Raises:
        ConfigurationError: there is no such scenario.
    """
    by_name = {each.name: each for each in SCENARIOS}
    for name in names:
        if name not in by_name:
            raise ConfigurationError(f"no scenario {name!r}: there are {', '.join(by_name)}")
    return tuple(by_name[name] for name in dict.fromkeys(names)) or SCENARIOS


async def evaluate(rivals: Sequence[Contestant], scenarios: Sequence[Scenario], screen: Screen) -> ExitCode:
    """Runs each scenario with each contestant, one after the other, and shows how they compare.

    Raises:
        ConfigurationError: there is no such model.
        ModelNotConfigured: the key of a model is missing.
    """
    for rival in rivals:
        _model(rival.model, scenarios[0])  # a missing key is told before anything is paid for
    outcomes: dict[tuple[str, str], Outcome] = {}
    for scenario in scenarios:
        for rival in rivals:
            screen.status(f"{scenario.name}: {rival.label}")
            outcomes[scenario.name, rival.label] = await _outcome(rival, scenario)
    screen.done()
    for line in (*_table(rivals, scenarios, outcomes), "", *_mistakes(outcomes)):
        screen.line(line)
    return DONE


async def _outcome(rival: Contestant, scenario: Scenario) -> Outcome:
    roles = Roles(run=Role(_model(rival.model, scenario), rival.effort))
    async with Engine(roles, _namespaces(scenario), limits=_LIMITS) as engine:
        session = engine.session(about=About(company="Harbour & Vale Ltd"))
        async with session.run(scenario.question, output=type(scenario.right)) as run:
            result = await run.result()
    return Outcome(_wrong(scenario, result), result.iterations, result.usage, result.cost)


def _wrong(scenario: Scenario, result: Result) -> str:
    try:
        return scenario.differences(result.parsed(type(scenario.right)))
    except AnswerInvalid as error:
        return str(error)


def _model(name: str, scenario: Scenario) -> Model:
    if name == "demo:careful":
        return Scripted(scenario.careful, name=name)
    if name == "demo:hasty":
        return Scripted(scenario.hasty, name=name)
    return model_named(name)


def _namespaces(scenario: Scenario) -> Sequence[Namespace]:
    bank, ledger = tuple(map(str, scenario.bank)), tuple(map(str, scenario.ledger))
    return Systems("", bank, ledger, currency=scenario.currency).namespaces()


_COLUMNS = ("right", "steps", "tokens", "cost")
_WIDTH = 9
"""Characters of a column: a million tokens, a thousand dollars."""
_GAP = " "


def _table(
    rivals: Sequence[Contestant],
    scenarios: Sequence[Scenario],
    outcomes: Mapping[tuple[str, str], Outcome],
) -> Iterator[str]:
    """A line a scenario, and what it comes to in all."""
    first = max(map(len, ("scenario", *(each.name for each in scenarios))))
    head = [_GAP.join(f"{column:>{_WIDTH}}" for column in _COLUMNS)] * len(rivals)
    width = len(head[0])
    yield _row("", first, [f"{_fitting(rival.label, width):^{width}}" for rival in rivals])
    yield _row("scenario", first, head)
    for scenario in scenarios:
        cells = [_cells([outcomes[scenario.name, rival.label]]) for rival in rivals]
        yield _row(scenario.name, first, cells)
    totals = [_cells([outcomes[each.name, rival.label] for each in scenarios]) for rival in rivals]
    yield _row("all", first, totals)


def _row(name: str, first: int, cells: Sequence[str]) -> str:
    return " | ".join((f"{name:<{first}}", *cells)).rstrip()


def _fitting(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _cells(outcomes: Sequence[Outcome]) -> str:
    right = sum(not each.wrong for each in outcomes)
    usage = sum((each.usage for each in outcomes), Usage())
    shown = (
        f"{right}/{len(outcomes)}" if len(outcomes) > 1 else ("yes" if right else "no"),
        f"{sum(each.steps for each in outcomes)}",
        f"{usage.prompt + usage.output:,}",
        _money([each.cost for each in outcomes]),
    )
    return _GAP.join(f"{cell:>{_WIDTH}}" for cell in shown)


def _money(costs: Sequence[Decimal | None]) -> str:
    """The sum in dollars; unknown when one of them is, since part of a sum is not the sum."""
    known = [each for each in costs if each is not None]
    return f"${sum(known, Decimal()):.4f}" if len(known) == len(costs) else "?"


def _mistakes(outcomes: Mapping[tuple[str, str], Outcome]) -> Iterator[str]:
    for (scenario, label), outcome in outcomes.items():
        if outcome.wrong:
            yield f"{scenario}, {label}: {outcome.wrong}"


def _arguments(made: argparse.ArgumentParser) -> None:
    add = functools.partial(made.add_argument, action="append", default=[])
    add("--model", help="one to judge; default: two playbooks, one of them hasty")
    add("--effort", choices=EFFORTS, help="each model at each of these")
    add("--scenario", metavar="NAME", help="only this one; default: all")


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    rivals = contestants(given.model, given.effort)
    return evaluate(rivals, scenarios_named(given.scenario), ground.screen)


EVAL = Command("eval", "judge models side by side by shipped scenarios", _arguments, _work, on_store=False)
