"""The command in the test's own process: words and exit code as in one of its own, a second sooner."""

import contextlib
import io
import os
from collections.abc import Mapping
from subprocess import CompletedProcess

import pytest

from offing.engine.cli.main import main


def offing_here(
    *arguments: str, environment: Mapping[str, str] | None = None, **variables: str
) -> CompletedProcess[str]:
    """What it says and how it ends.

    Args:
        arguments: Those of the command.
        environment: All variables there are; None for those of the test.
        variables: Some more.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name in [] if environment is None else set(os.environ) - set(environment):
            patch.delenv(name)
        for name, value in {**(environment or {}), **variables}.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _ended(arguments)
    return CompletedProcess(arguments, code, *(_said(stream) for stream in (out, err)))


def _ended(arguments: tuple[str, ...]) -> int:
    try:
        return main(arguments)
    except SystemExit as left:  # the arguments were wrong, or asked for help
        return int(left.code or 0)


def _said(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
