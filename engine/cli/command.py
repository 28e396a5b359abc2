"""What a command is: its name, its arguments, and what it does with them."""

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .exits import ExitCode
from .ground import Ground

RUN = "the run's id, as it was shown when it began"
"""Help of the argument that names a run."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. It stands with its arguments in a file of its own, and in the table."""

    name: str
    help: str
    """One line, for the list of commands."""
    arguments: Callable[[argparse.ArgumentParser], object]
    work: Callable[[argparse.Namespace, Ground], "ExitCode | Awaitable[ExitCode]"]
    """Does it. One that talks with a person in turns has an event loop of its own, and gives its code."""
    description: str = ""
    """For its own help; empty for `help`."""
    exits: str = ""
    """Exit codes that mean something else here than everywhere."""
    on_store: bool = True
    """Whether it looks into a store: then it takes `--store` and `--config`."""


def parser_of(commands: "tuple[Command, ...]", epilog: str) -> argparse.ArgumentParser:
    """The parser of a command line with these commands."""
    made = argparse.ArgumentParser(
        prog="offing",
        description="Long-horizon agent work: one model, one context, one loop.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    below = made.add_subparsers(dest="command", metavar="COMMAND")
    for command in commands:
        one = below.add_parser(
            command.name,
            help=command.help,
            description=command.description or f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=command.exits or None,
        )
        command.arguments(one)
        one.set_defaults(work=command.work)
        if command.on_store:
            _add_place(one)
    return made


def _add_place(command: argparse.ArgumentParser) -> None:
    place = command.add_argument(
        "--store", metavar="PLACE", help="journal file, or postgresql://... (default: the configuration's)"
    )
    file = command.add_argument(
        "--config", metavar="FILE", help="the configuration (default: offing.yaml, where there is one)"
    )
    for each in (place, file):
        completes_files(each)


def completes_files(argument: argparse.Action) -> None:
    """Has a shell complete names of files there."""
    setattr(argument, "complete", FILES)  # noqa: B010  an attribute that `shtab` looks for


FILES = {"bash": "_shtab_compgen_files", "zsh": "_files", "fish": "__fish_complete_path"}
"""As `shtab` names it in each shell."""


def _version() -> str:
    from importlib.metadata import version

    return version("offing")
