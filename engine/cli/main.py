"""The `offing` command: reads the command line and turns errors into words and exit codes."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Sequence

from ..configuration import Unusable
from ..errors import ConfigurationError, OffingError
from .exits import FAILED, INTERRUPTED, USAGE, ExitCode
from .ground import ground_of
from .screen import Screen
from .setup.welcome import welcome
from .table import whole_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code.

    Raises:
        SystemExit: with 2, the command line is wrong; with 0, help was asked for.
    """
    given = whole_parser().parse_args(arguments)
    screen = Screen()
    try:
        if given.command is None:
            return welcome(screen)
        work: ExitCode | Awaitable[ExitCode] = given.work(given, ground_of(given, screen))
        return work if isinstance(work, int) else asyncio.run(_ended(work))
    except ConfigurationError as error:
        return _fail(screen, error, USAGE)
    except OffingError as error:
        return _fail(screen, error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does; the run can be resumed. Python would
        # complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


async def _ended(work: Awaitable[ExitCode]) -> ExitCode:
    return await work


def _fail(screen: Screen, error: OffingError, code: ExitCode) -> int:
    screen.done()
    # A problem of a file begins with its place, as editors and terminals follow it.
    sys.stderr.write(f"{error}\n" if isinstance(error, Unusable) else f"offing: {error}\n")
    return code
