"""What holds for every test: one event loop library, steady hypothesis runs, no provider's key."""

import os

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes providers' keys away: a test that reached for a model would fail, not spend. None is traced."""
    for name in [n for n in os.environ if n.endswith(("_API_KEY", "_AUTH_TOKEN")) or n.startswith("OTEL_")]:
        monkeypatch.delenv(name)
