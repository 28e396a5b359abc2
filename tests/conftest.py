"""What holds for every test: one event loop library, steady hypothesis runs, no provider's key."""

import io
import os
from typing import TYPE_CHECKING

import pytest
from coverage import Coverage
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

settings.register_profile("here", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the providers' keys away: a test that reached for a model would fail, not spend."""
    for name in [n for n in os.environ if n.endswith(("_API_KEY", "_AUTH_TOKEN"))]:
        monkeypatch.delenv(name)


def pytest_terminal_summary(terminalreporter: "TerminalReporter") -> None:
    """Prints the coverage of `coverage run -m pytest` here, so that pytest's summary stays last."""
    coverage = Coverage.current()
    if coverage is None:
        return
    coverage.stop()
    coverage.save()
    if not coverage.get_data().measured_files():
        return
    table = io.StringIO()
    coverage.report(file=table)
    terminalreporter.section("coverage")
    terminalreporter.write(table.getvalue())
