"""`offing completion SHELL`: a script that completes commands, options and files in a shell."""

import argparse

from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground

_SHELLS = ("bash", "zsh", "fish")


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("shell", choices=_SHELLS)


def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    import shtab

    from ..table import whole_parser

    ground.screen.line(shtab.complete(whole_parser(), given.shell).rstrip())
    return DONE


COMPLETION = Command(
    "completion",
    "a script that completes commands and options in your shell",
    _arguments,
    _work,
    'For bash: eval "$(offing completion bash)". For zsh, as a file `_offing` in $fpath. For fish:'
    " offing completion fish > ~/.config/fish/completions/offing.fish",
    on_store=False,
)
