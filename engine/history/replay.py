"""A run's requests, made again from its journal: no model, no network, no clock.

The fold is driven row by row, as it was when the run worked. Wherever the model was asked, the request is
encoded from the state alone. Each reply has the digest of the prompt that it answered, so what is made
again can be compared with what was sent.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from ..effort import EffortChoice, thinking_of
from ..errors import NotFound
from ..frame import stored_frame
from ..lifetimes import with_lifetime
from ..models.model import Effort, Model, Request, ShowsBodies
from ..state import State, fold
from ..store.cached import Lifetime
from ..store.facts import Faulted, Replied
from ..store.journal import Row, Scope
from ..wire import Wire
from .streams import place_of


@dataclass(frozen=True, slots=True)
class Replayed:
    """One request, made again."""

    iteration: int
    """Of the run: the reply that was asked for, from 1."""
    seq: int
    """The row that tells what came of it."""
    request: Request
    body: bytes
    """What is sent of it. Of a model that does not show its bodies: the encoded parts, a line each."""
    digest: str
    """As `Wire.digest` has it."""
    sent: str
    """Digest of the prompt that was sent; empty where none was kept: of failed calls, and in old journals."""

    @property
    def is_equal(self) -> bool | None:
        """Whether the prompt is the one that was sent, byte for byte; None when that was not kept."""
        return self.digest == self.sent if self.sent else None


async def replay(
    scope: Scope, run: str, model: Model, effort: Effort | None = None
) -> AsyncIterator[Replayed]:
    """Each request of a run, in order, failed ones too.

    Args:
        scope: Where the run is kept.
        run: Its id; with a stream's number, as in `september~0.3`, one that a rollback has left.
        model: Encodes. The recorded bytes of the frame are used for the model that the session began with.
        effort: That of the role `run`, as the engine had it. It is no part of the digest.

    Raises:
        NotFound: there is no such run.
        JournalUnreadable: this release does not know a row.
        StoreError: the store failed.
    """
    place = await place_of(scope.journal, run)
    driven = _Driven(scope, model, EffortChoice(effort, thinking_of(model)))
    found = False
    async for row in scope.journal.read(place.stream):
        is_asked = row.run == place.run and isinstance(row.fact, Replied | Faulted)
        if is_asked:
            yield await driven.request(row)
        found = found or row.run == place.run
        await driven.take(row)
    if not found:
        raise NotFound(f"there is no run {run!r}")


class _Driven:
    """The fold, and the wire beside it."""

    def __init__(self, scope: Scope, model: Model, effort: EffortChoice) -> None:
        self._scope = scope
        self._model = model
        self._effort = effort
        self._state = State()
        self._wire: Wire | None = None

    async def take(self, row: Row) -> None:
        await fold(_one(row), self._state)

    async def request(self, row: Row) -> Replayed:
        state = self._state
        wire = self._wire = self._wire or await self._framed()
        request = wire.request(state.conversation, state.turn + 1)
        request = replace(request, effort=self._effort.of(state))
        request = with_lifetime(request, state, _lifetime(row, state))
        sent = row.fact.request if isinstance(row.fact, Replied) else ""
        iteration = state.current.iterations + 1
        return Replayed(iteration, row.seq, request, _body(self._model, request), wire.digest, sent)

    async def _framed(self) -> Wire:
        if self._state.opened is None:
            raise NotFound("the stream has no frame: nothing was asked in it")
        framed = await stored_frame(self._state.opened, self._model, self._scope.artifacts)
        return Wire(self._model, [framed.static, framed.context])


def _lifetime(row: Row, state: State) -> Lifetime:
    """The one that was planned for the first layers; of a request without reply, that of the one before."""
    cached = row.fact.cached if isinstance(row.fact, Replied) else None
    if cached is None and state.prefix is not None:
        cached = state.prefix.cached
    return "5m" if cached is None else cached.lifetime


async def _one(row: Row) -> AsyncIterator[Row]:
    yield row


def _body(model: Model, request: Request) -> bytes:
    return model.body(request) if isinstance(model, ShowsBodies) else _lines(request.segments)


def _lines(segments: Sequence[bytes]) -> bytes:
    return b"".join(segment + b"\n" for segment in segments)
