"""`offing fork`, `rollback`, `diff` and `replay`: what can be done with a run that is in the journal."""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from ...clock import Outside
from ...configuration.configuration import PLAYBOOK
from ...errors import ConfigurationError
from ...history import Branch, Edit, MessageEdit, Replayed, ResultEdit, diff, replay
from ...history.branching import fork_run, roll_back
from ...history.fork import Target
from ...history.streams import place_of, session_named
from ...models.anthropic import AnthropicModel
from ...models.litellm import LiteLLMModel
from ...models.model import Model
from ...models.scripted import Scripted
from ...store.journal import Journal, Row
from ..command import Command, completes_files
from ..exits import DONE, FAILED, SHORT, ExitCode
from ..ground import Ground
from ..work.systems import DEMO_MODEL, Systems, base_of
from ..work.working import systems_of


class Asked(NamedTuple):
    """What a fork is asked for."""

    run: str
    at: int
    edit: Edit | None
    model: str
    session: str
    """Name of the new session; empty to make one."""


def asked(given: argparse.Namespace) -> Asked:
    """The fork that the arguments ask for.

    Raises:
        ConfigurationError: the file of a result cannot be read.
    """
    edit: Edit | None = None
    if given.edit_message is not None:
        edit = MessageEdit(given.edit_message)
    elif given.edit_result is not None:
        call, file = given.edit_result
        edit = ResultEdit(call, _text_of(Path(file)))
    return Asked(given.run, given.at, edit, given.model, given.session)


async def fork(wanted: Asked, ground: Ground) -> ExitCode:
    """Forks a run into a session of its own.

    Raises:
        OffingError: as `Engine.fork` says.
    """
    kept, outside = ground.kept(), Outside()
    name = session_named(wanted.session or outside.names.new())
    target = Target(name, outside.clock.now_us(), wanted.edit, wanted.model)
    try:
        branch = await fork_run(kept.scoped(ground.tenant).journal, wanted.run, wanted.at, target)
    finally:
        await kept.close()
    _tell(branch, ground)
    return DONE


async def rollback(run: str, at: int, ground: Ground) -> ExitCode:
    """Takes a session back to an earlier point of it.

    Raises:
        OffingError: as `Engine.rollback` says.
    """
    kept = ground.kept()
    try:
        branch = await roll_back(kept.scoped(ground.tenant).journal, run, at, Outside().clock.now_us())
    finally:
        await kept.close()
    _tell(branch, ground)
    return DONE


async def compare(runs: Sequence[str], ground: Ground, *, as_json: bool) -> ExitCode:
    """Shows where two runs differ; 3 when they do.

    Raises:
        NotFound: there is no such run.
        StoreError: the store failed.
    """
    journal = ground.scope().journal
    (left, left_run), (right, right_run) = [await _rows(journal, run) for run in runs]
    found = diff(left, left_run, right, right_run)
    ground.screen.line(json.dumps(found.to_json(), ensure_ascii=False, indent=2) if as_json else found.text())
    return SHORT if found else DONE


async def again(run: str, ground: Ground, out: Path | None) -> ExitCode:
    """Makes each request of a run again, offline; 1 when one is not what was sent.

    Raises:
        NotFound: there is no such run.
        ConfigurationError: it was not begun by this command line, or `out` cannot be written.
        StoreError: the store failed.
    """
    scope, screen = ground.scope(), ground.screen
    systems = await systems_of(run, ground)
    differ = 0
    async for one in replay(scope, run, _encoder(systems, ground)):
        differ += one.is_equal is False
        screen.line(
            f"iteration {one.iteration}, row {one.seq}: {len(one.body):,} bytes, {_VERDICTS[one.is_equal]}"
        )
        if out is not None:
            await asyncio.to_thread(_write, out, one)
    screen.line("every prompt is what was sent" if not differ else f"{differ} prompts are not what was sent")
    return FAILED if differ else DONE


_VERDICTS: Mapping[bool | None, str] = {
    True: "byte for byte what was sent",
    False: "not what was sent",
    None: "no digest was kept of what was sent",
}


def _tell(branch: Branch, ground: Ground) -> None:
    screen = ground.screen
    screen.line(f"run {branch.run} in stream {branch.stream}")
    for effect in branch.not_undone:
        screen.line(f"not undone: {effect.call} {effect.tool} ({effect.outcome})")
    screen.line(f"go on with: offing resume {branch.run}{ground.again}")


async def _rows(journal: Journal, run: str) -> tuple[list[Row], str]:
    stream, name = await place_of(journal, run)
    return [row async for row in journal.read(stream)], name


def _encoder(systems: Systems, ground: Ground) -> Model:
    """The model of a session, to encode with: it needs no key."""
    name = systems.model or base_of(systems, ground).settings.model.name
    provider, _, model = name.partition(":")
    if name == DEMO_MODEL or name.startswith(PLAYBOOK):
        return Scripted([], name=name)
    if provider == "litellm":
        return LiteLLMModel(model)
    return AnthropicModel(model, SecretStr(""))


def _arguments_of_fork(made: argparse.ArgumentParser) -> None:
    _add_point(made)
    edit = made.add_mutually_exclusive_group()
    edit.add_argument("--edit-message", metavar="TEXT", help="another request, with --at 0")
    edit.add_argument(
        "--edit-result", nargs=2, metavar=("CALL", "FILE"), help="another result of a call of the iteration"
    )
    made.add_argument("--model", default="", metavar="NAME", help="who is to go on; default: the same one")
    made.add_argument("--session", default="", metavar="NAME", help="of the new session; default: a new name")


def _arguments_of_diff(made: argparse.ArgumentParser) -> None:
    made.add_argument("runs", nargs=2, metavar="RUN")
    made.add_argument("--json", action="store_true", help="as one JSON object")


def _arguments_of_replay(made: argparse.ArgumentParser) -> None:
    made.add_argument("run")
    completes_files(made.add_argument("--out", metavar="FOLDER", help="writes the requests there"))


def _add_point(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", help="the run's id; of one that a rollback has left, such as september~0.3")
    at = "iteration of the run whose results are the last that is kept; 0 for none"
    made.add_argument("--at", type=int, required=True, metavar="N", help=at)


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {str(file)!r}: {error}") from error


def _write(out: Path, one: Replayed) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{one.iteration:03}-row-{one.seq}.json").write_bytes(one.body)
    except OSError as error:
        raise ConfigurationError(f"cannot write into {str(out)!r}: {error}") from error


HISTORY = (
    Command(
        "fork",
        "copy a run up to an iteration, to go on another way",
        _arguments_of_fork,
        lambda given, ground: fork(asked(given), ground),
        "Copies a run up to an iteration into a new session. Nothing that was done is undone: what came"
        " after the iteration is listed.",
    ),
    Command(
        "rollback",
        "take a session back to an iteration of a run of it",
        _add_point,
        lambda given, ground: rollback(given.run, given.at, ground),
    ),
    Command(
        "diff",
        "where two runs part",
        _arguments_of_diff,
        lambda given, ground: compare(given.runs, ground, as_json=given.json),
        exits="exit codes: 0 no difference; 3 there is one",
    ),
    Command(
        "replay",
        "make each request of a run again, offline, and compare it with what was sent",
        _arguments_of_replay,
        lambda given, ground: again(given.run, ground, Path(given.out) if given.out else None),
        exits="exit codes: 0 each is what was sent; 1 one is not",
    ),
)
