"""The arguments of every command."""

import argparse
import contextlib
import functools
import os
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from ..models.model import EFFORTS
from .commands import STORE
from .demo import MONTHS
from .history_arguments import add_history, add_keeping
from .systems import DEMO_MODEL

MODEL = "anthropic:claude-opus-5-5"
_DIGITS = 10
"""Of a count, fewer than these."""
_RUN = "the run's id, as it was shown when it began"
_OUT = "offing-statement"
_DEMO_OUT = "offing-demo"


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    made = argparse.ArgumentParser(
        prog="offing", description="Long-horizon agent work: one model, one context, one loop."
    )
    commands = made.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="the reference investigation: five bundled accounts of three companies, offline",
        description="Reconciles five bundled accounts of three companies, one after another, without a key"
        " and without the network, and writes a report and a reconciliation statement.",
    )
    _add_demo_arguments(demo)
    run = commands.add_parser("run", help="work on a request over your own files")
    _add_run_arguments(run)
    reconciled = commands.add_parser(
        "reconcile",
        help="match your own files without any model and write the statement",
        description="Matches bank statements with the books, without any model, and writes the"
        " reconciliation statement as XLSX and CSV.",
        epilog="exit codes: 0 every difference is explained item by item; 2 wrong usage, or a file cannot"
        " be read; 3 something is left unexplained, or an account has no pair",
    )
    _add_reconcile_arguments(reconciled)
    again = commands.add_parser("resume", help="go on with a run after a kill or a stop")
    again.add_argument("run", help=_RUN)
    again.add_argument("--guidance", default="", metavar="TEXT", help="what the model is to read next")
    again.add_argument("--by", default="", help="who says it (default: the user of this machine)")
    _add_budget(again, "granted on top of what it may spend")
    people = _add_people(commands.add_parser)
    _add_eval_arguments(commands.add_parser("eval", help="judge models side by side by shipped scenarios"))
    known = commands.add_parser("models", help="windows, prices and keys of models")
    known.add_argument("names", nargs="*", metavar="NAME", help="such as litellm:openai/gpt-5.6")
    others = (*people, *add_history(commands.add_parser), *add_keeping(commands.add_parser))
    for command in (demo, run, reconciled, again, *others):
        help_ = "journal file, or postgresql://... (default: %(default)s)"
        command.add_argument("--store", default=STORE, help=help_)
    return made


def _add_people(add: Callable[..., argparse.ArgumentParser]) -> list[argparse.ArgumentParser]:
    """What people say to a run: it is posted, and whoever works on the run takes it in."""
    approve = add("approve", help="let a call run that waits for it")
    deny = add("deny", help="keep a call from running")
    answer = add("answer", help="answer what a run asks")
    say = add("say", help="send a run a message")
    cancel = add("cancel", help="ask a run to stop; it can go on later")
    for command in (approve, deny, answer, say, cancel):
        command.add_argument("run", help=_RUN)
        command.add_argument("--by", default="", help="who says it (default: the user of this machine)")
    for command in (approve, deny):
        command.add_argument("call", nargs="?", default="", help="such as 21.1; not needed when one waits")
    for command in (answer, say):
        command.add_argument("text", help="in words")
    answer.add_argument("--call", default="", help="such as 21.1; not needed when one waits")
    for command in (deny, cancel):
        command.add_argument("--reason", default="", help="in words; the model reads that of a denial")
    cancel.add_argument("--at-once", action="store_true", help="without letting short calls end")
    return [approve, deny, answer, say, cancel]


def _add_demo_arguments(demo: argparse.ArgumentParser) -> None:
    demo.add_argument(
        "--month",
        choices=tuple(MONTHS),
        default=next(iter(MONTHS)),
        help="the second one carries the first one's open items forward (default: %(default)s)",
    )
    demo.add_argument(
        "--out", default=_DEMO_OUT, metavar="FOLDER", help="folder for what is written (default: %(default)s)"
    )
    demo.add_argument(
        "--model",
        default=DEMO_MODEL,
        help="a real model, which its provider bills, instead of the playbook; a key alone changes nothing",
    )


def _add_eval_arguments(judged: argparse.ArgumentParser) -> None:
    add = functools.partial(judged.add_argument, action="append", default=[])
    add("--model", help="one to judge; default: two playbooks, one of them hasty")
    add("--effort", choices=EFFORTS, help="each model at each of these")
    add("--scenario", metavar="NAME", help="only this one; default: all")


def _add_run_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument("request", help="what is to be found out, in words")
    run.add_argument("--bank", action="append", default=[], metavar="FILE", help="a bank statement")
    run.add_argument("--ledger", action="append", default=[], metavar="FILE", help="an export of the books")
    run.add_argument(
        "--skill", action="append", default=[], metavar="NAME", help="work by this skill from the start"
    )
    model = os.environ.get("OFFING_MODEL", MODEL)
    run.add_argument("--model", default=model, help="default: OFFING_MODEL, or %(default)s")
    run.add_argument("--company", default="", help="whose accounts these are")
    run.add_argument("--period", default="", help="the period in question")
    run.add_argument("--out", metavar="FOLDER", help="where the report and what tools make is written")
    run.add_argument(
        "--carried", metavar="FILE", help="the statement of the period before, as CSV, for what was open"
    )
    _add_budget(run, "after which it stops")
    _add_conventions(run)


def _add_budget(command: argparse.ArgumentParser, what: str) -> None:
    add = functools.partial(command.add_argument, default=None)
    add("--budget-usd", type=_dollars, metavar="AMOUNT", help=f"US dollars of its model calls, {what}")
    add("--max-calls", type=_count, metavar="N", help=f"model calls, {what}")


def _dollars(text: str) -> Decimal:
    with contextlib.suppress(InvalidOperation):
        amount = Decimal(text)
        if amount.is_finite() and amount >= 0:
            return amount
    raise argparse.ArgumentTypeError(f"{text!r} is no amount, such as 2.50")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < _DIGITS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of calls, such as 40")


def _add_reconcile_arguments(asked: argparse.ArgumentParser) -> None:
    add = functools.partial(asked.add_argument, metavar="FILE")
    add("--bank", nargs="+", required=True, action="extend", help="bank statements, of any format")
    add("--ledger", nargs="+", required=True, action="extend", help="exports of the books")
    add("--carried", help="the statement of the period before, as CSV: its open items are carried forward")
    asked.add_argument(
        "--period",
        default="",
        metavar="PERIOD",
        help="2026-09, or 2026-09-01..2026-09-30; default: the last full month that both sides have",
    )
    asked.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="BANK=LEDGER",
        help="which account of the books is which bank account, where it is not plain",
    )
    asked.add_argument(
        "--window-days", default="5", metavar="DAYS", help="days that two dates may be apart (default: 5)"
    )
    asked.add_argument(
        "--tolerance", default="0", metavar="AMOUNT", help="by how much amounts may differ (default: 0)"
    )
    asked.add_argument(
        "--materiality", default="0", metavar="AMOUNT", help="items of less are summed only (default: 0)"
    )
    asked.add_argument(
        "--company", default="", metavar="NAME", help="whose accounts these are, for the statement"
    )
    asked.add_argument("--preparer", default="", metavar="NAME", help="who prepares the statement")
    asked.add_argument(
        "--out", default=_OUT, metavar="FOLDER", help="folder for the statement (default: %(default)s)"
    )
    asked.add_argument("--json", action="store_true", help="the result as one JSON object")
    _add_conventions(asked)


def _add_conventions(command: argparse.ArgumentParser) -> None:
    command.add_argument("--currency", default=None, help="ISO code, for files that name none")
    command.add_argument(
        "--day-first",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="how to read 03/04 in files that leave it open",
    )
    command.add_argument(
        "--decimal", choices=(".", ","), default=None, help="decimal mark, for files that leave it open"
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help="a column of a table whose header is not known, such as date=Kiedy; without a header, date=1",
    )
