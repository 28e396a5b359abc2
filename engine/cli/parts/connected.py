"""The configured namespaces, connected for one command."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ....namespaces.meta_tools import Connected
from ...connections import Connections
from ...errors import ConfigurationError
from ..ground import Ground


@asynccontextmanager
async def connected(ground: Ground, *names: str) -> AsyncGenerator[Connections]:
    """Connects the namespaces of these names, all of them without a name; leaves them in the end.

    Raises:
        Unusable: a namespace of the configuration cannot be made.
        ConfigurationError: there is no configuration, or none of that name in it.
    """
    configuration = ground.configuration
    if not configuration.is_written:
        raise ConfigurationError(
            "there is no offing.yaml here, so nothing is connected: `offing init` writes one"
        )
    kept = ground.kept()
    made = configuration.namespaces(kept.scoped(ground.tenant).readings)
    there = [each.name for each in made]
    for name in names:
        if name not in there:
            known = ", ".join(there) or "none"
            raise ConfigurationError(f"there is no namespace {name!r} in {ground.file}: there are {known}")
    connections = Connections()
    try:
        wanted = [each for each in made if not names or each.name in names]
        await connections.open(wanted, configuration.credentials())
        yield connections
    finally:
        await connections.close()
        await kept.close()


@asynccontextmanager
async def connected_one(ground: Ground, name: str) -> AsyncGenerator[Connected]:
    """Connects one namespace. Raises as `connected`.

    Raises:
        ConfigurationError: it cannot be connected; the message says why.
    """
    async with connected(ground, name) as connections:
        if not connections.connected:
            raise ConfigurationError(f"{name} is not connected: {connections.disconnected[0].reason}")
        yield connections.connected[0]
