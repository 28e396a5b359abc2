"""`offing run`: works on a request over the configured systems, or over files that are named."""

import argparse
import os
from collections.abc import Awaitable
from pathlib import Path

from ..command import Command, completes_files
from ..exits import ExitCode
from ..ground import Ground
from .budget import add_budget, budget_of
from .conventions import add_conventions, said_of
from .systems import Systems
from .watching import watcher_of
from .working import begin

MODEL = "anthropic:claude-opus-5-5"
"""Who works when nobody is named."""


def default_model(ground: Ground) -> str:
    """Who works when the command line names nobody; empty where the configuration does."""
    return "" if ground.configuration.settings.model.name else os.environ.get("OFFING_MODEL", MODEL)


def add_session(command: argparse.ArgumentParser) -> None:
    """Adds what a session is opened with."""
    for side, what in (("--bank", "a bank statement"), ("--ledger", "an export of the books")):
        completes_files(command.add_argument(side, action="append", default=[], metavar="FILE", help=what))
    command.add_argument(
        "--skill", action="append", default=[], metavar="NAME", help="work by this skill from the start"
    )
    command.add_argument(
        "--model", help=f"default: that of the configuration, then OFFING_MODEL, then {MODEL}"
    )
    command.add_argument("--company", default="", help="whose accounts these are")
    command.add_argument("--period", default="", help="the period in question")
    completes_files(
        command.add_argument(
            "--carried", metavar="FILE", help="the statement of the period before, as CSV, for what was open"
        )
    )
    add_conventions(command)


def systems_said(given: argparse.Namespace, ground: Ground, out: str = "") -> Systems:
    """What the command line says of a session."""
    return Systems(
        model=given.model or default_model(ground),
        configuration=ground.file,
        bank=tuple(map(_absolute, given.bank)),
        ledger=tuple(map(_absolute, given.ledger)),
        **said_of(given),
        company=given.company,
        period=given.period,
        skills=tuple(given.skill),
        carried=_absolute(given.carried),
        out=out,
    )


def _absolute(path: str | None) -> str:
    """For a resume from another folder; empty stays empty."""
    return str(Path(path).absolute()) if path else ""


def _arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("request", help="what is to be found out, in words")
    add_session(command)
    completes_files(
        command.add_argument(
            "--out", metavar="FOLDER", help="where the report and what tools make is written"
        )
    )
    add_budget(command, "after which it stops")
    command.add_argument("--json", action="store_true", help="each event as one JSON object a line")


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    systems = systems_said(given, ground, _absolute(given.out))
    return begin(systems, given.request, ground, watcher_of(ground, as_json=given.json), budget_of(given))


RUN = Command("run", "work on a request, over the configured systems or over files", _arguments, _work)
