"""`offing fork`, `rollback`, `diff` and `replay`: what can be done with a run that is in the journal."""

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from ..clock import Outside
from ..errors import ConfigurationError
from ..history import Branch, Edit, MessageEdit, Replayed, ResultEdit, diff, replay
from ..history.branching import fork_run, roll_back
from ..history.fork import Target
from ..history.streams import place_of, session_named
from ..models.anthropic import AnthropicModel
from ..models.litellm import LiteLLMModel
from ..models.model import Model
from ..store import store_at
from ..store.journal import Journal, Row
from .commands import TENANT, ExitCode, systems_of
from .screen import Screen
from .systems import DEMO_MODEL, Systems


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


async def fork(wanted: Asked, store: str, screen: Screen) -> ExitCode:
    """Forks a run into a session of its own.

    Raises:
        OffingError: as `Engine.fork` says.
    """
    kept, outside = store_at(store), Outside()
    name = session_named(wanted.session or outside.names.new())
    target = Target(name, outside.clock.now_us(), wanted.edit, wanted.model)
    try:
        branch = await fork_run(kept.scoped(TENANT).journal, wanted.run, wanted.at, target)
    finally:
        await kept.close()
    _tell(branch, screen)
    return 0


async def rollback(run: str, at: int, store: str, screen: Screen) -> ExitCode:
    """Takes a session back to an earlier point of it.

    Raises:
        OffingError: as `Engine.rollback` says.
    """
    kept = store_at(store)
    try:
        branch = await roll_back(kept.scoped(TENANT).journal, run, at, Outside().clock.now_us())
    finally:
        await kept.close()
    _tell(branch, screen)
    return 0


async def compare(runs: Sequence[str], store: str, screen: Screen, *, as_json: bool) -> ExitCode:
    """Shows where two runs differ; 3 when they do.

    Raises:
        NotFound: there is no such run.
        StoreError: the store failed.
    """
    journal = store_at(store).scoped(TENANT).journal
    (left, left_run), (right, right_run) = [await _rows(journal, run) for run in runs]
    found = diff(left, left_run, right, right_run)
    screen.line(json.dumps(found.to_json(), ensure_ascii=False, indent=2) if as_json else found.text())
    return 3 if found else 0


async def again(run: str, store: str, out: Path | None, screen: Screen) -> ExitCode:
    """Makes each request of a run again, offline; 1 when one is not what was sent.

    Raises:
        NotFound: there is no such run.
        ConfigurationError: it was not begun by this command line, or `out` cannot be written.
        StoreError: the store failed.
    """
    scope = store_at(store).scoped(TENANT)
    systems = await systems_of(run, store)
    differ = 0
    async for one in replay(scope, run, _encoder(systems)):
        differ += one.is_equal is False
        screen.line(
            f"iteration {one.iteration}, row {one.seq}: {len(one.body):,} bytes, {_VERDICTS[one.is_equal]}"
        )
        if out is not None:
            await asyncio.to_thread(_write, out, one)
    screen.line("every prompt is what was sent" if not differ else f"{differ} prompts are not what was sent")
    return 1 if differ else 0


_VERDICTS: Mapping[bool | None, str] = {
    True: "byte for byte what was sent",
    False: "not what was sent",
    None: "no digest was kept of what was sent",
}


def _tell(branch: Branch, screen: Screen) -> None:
    screen.line(f"run {branch.run} in stream {branch.stream}")
    for effect in branch.not_undone:
        screen.line(f"not undone: {effect.call} {effect.tool} ({effect.outcome})")
    screen.line(f"go on with: offing resume {branch.run}")


async def _rows(journal: Journal, run: str) -> tuple[list[Row], str]:
    stream, name = await place_of(journal, run)
    return [row async for row in journal.read(stream)], name


def _encoder(systems: Systems) -> Model:
    """The model of a session, to encode with: it needs no key."""
    provider, _, model = systems.model.partition(":")
    if systems.model == DEMO_MODEL:
        return systems.the_model()
    if provider == "litellm":
        return LiteLLMModel(model)
    return AnthropicModel(model, SecretStr(""))


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
