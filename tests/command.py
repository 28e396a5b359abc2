"""The command in the test's own process: words and exit code as in one of its own, a second sooner."""

import contextlib
import io
from subprocess import CompletedProcess

import pytest

from offing.engine.cli.main import main


def offing_here(*arguments: str, **variables: str) -> CompletedProcess[str]:
    """What it says and how it ends, with these variables beside those of the test."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _ended(arguments)
    return CompletedProcess(arguments, code, _said(out), _said(err))


def _ended(arguments: tuple[str, ...]) -> int:
    try:
        return main(arguments)
    except SystemExit as left:  # the arguments were wrong, or asked for help
        return int(left.code or 0)


def _said(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
