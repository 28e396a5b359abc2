"""`offing reconcile`: the deterministic part, on a user's files, without any model."""

import argparse
import asyncio
import datetime
import shlex
from collections.abc import Awaitable
from pathlib import Path

from ....namespaces.matching.workpaper import Workpaper, write_csv, write_xlsx
from ....namespaces.matching.workpaper.tool import input_file, stem_of
from ..command import Command
from ..exits import DONE, SHORT, ExitCode
from ..ground import Ground
from ..screen import Screen
from ..work.conventions import as_words
from ..work.delivered import write_files
from .reading import read_files
from .request import Request, add_arguments, request_of
from .result import Result, work
from .summary import as_json, as_text


async def reconcile_files(request: Request, screen: Screen) -> ExitCode:
    """Reads the files, reconciles each account, writes the statement and says what is left.

    Raises:
        ConfigurationError: a file cannot be read, accounts cannot be paired, the period is none, or the
            folder cannot be written to.
    """
    result = work(await asyncio.to_thread(read_files, request), request)
    paper = Workpaper(
        statements=tuple(each.statement for each in result.worked),
        inputs=tuple(input_file(path) for path in _inputs(request)),
        made_on=datetime.datetime.now().astimezone().date(),
        preparer=request.preparer,
    )
    stem = f"statement-{stem_of(result.period)}"
    made = {f"{stem}.xlsx": write_xlsx(paper), f"{stem}.csv": write_csv(paper)}
    files = write_files(made, request.out)
    if request.json:
        screen.line(as_json(result, files, _next(request, result)))
    else:
        for line in as_text(result, files, _next(request, result)):
            screen.line(line)
    return DONE if result.explained else SHORT


def _inputs(request: Request) -> list[Path]:
    return [*request.bank, *request.ledger, *([request.carried] if request.carried else [])]


def _next(request: Request, result: Result) -> str:
    """The command that investigates what is left, with a model."""
    question = f"Why do bank and books differ at {result.period.end}?"
    words = ["offing", "run", question]
    words += [word for path in request.bank for word in ("--bank", str(path))]
    words += [word for path in request.ledger for word in ("--ledger", str(path))]
    words += ["--period", stem_of(result.period)]
    words += ["--carried", str(request.carried)] if request.carried else []
    words += ["--company", request.company] if request.company else []
    return shlex.join([*words, *as_words(request.said)])


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    return reconcile_files(request_of(given, ground), ground.screen)


RECONCILE = Command(
    "reconcile",
    "match your own files without any model and write the statement",
    add_arguments,
    _work,
    "Matches bank statements with the books, without any model, and writes the reconciliation statement as"
    " XLSX and CSV.",
    "exit codes: 0 every difference is explained item by item; 2 wrong usage, or a file cannot be read; 3"
    " something is left unexplained, or an account has no pair",
)
