"""What became of each run of a store, gathered from the facts alone."""

import datetime
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal

from ...history.streams import head_of
from ...store.facts import Began, Faulted, Replied, Resumed, Settled, Stopped
from ...store.journal import Row, Scope
from ...store.people import Answered, Decided, Expired, Questioned, Requested
from ...store.retention import holdings_of


@dataclass(slots=True)
class RunSummary:
    """One run, in a line."""

    run: str
    text: str = ""
    """What was asked for."""
    by: str = ""
    began_at: int = 0
    """Microseconds since 1970 in UTC, as are all times here."""
    last_at: int = 0
    iterations: int = 0
    calls: int = 0
    """Calls of tools that have their result."""
    cost: Decimal | None = Decimal(0)
    """US dollars; None where the cost of a model call is unknown."""
    why: str = "open"
    """Why it stopped; "open" as long as it has not: it is at work, or was interrupted."""
    waiting: dict[str, str] = field(default_factory=dict[str, str])
    """What waits for a person: call, and the tool or the question."""

    @property
    def state(self) -> str:
        """In words."""
        if self.waiting:
            return "waiting for a person"
        if self.why == "open":
            return "at work, or interrupted"
        return self.why if self.why == "answered" else f"stopped ({self.why})"

    def take(self, row: Row) -> None:
        """Takes in one fact of the run."""
        self.last_at = row.at
        match row.fact:
            case Began(message=message, by=by):
                self.text, self.by, self.began_at = message.text, by, row.at
            case Replied(cost=cost) | Faulted(cost=cost):
                self.iterations += isinstance(row.fact, Replied)
                self.cost = None if self.cost is None or cost is None else self.cost + cost
            case Settled():
                self.calls += 1
            case Resumed():
                self.why = "open"
            case Stopped(why=why):
                self.why = why
            case _:
                self._people(row)

    def _people(self, row: Row) -> None:
        match row.fact:
            case Requested(call=call, tool=tool):
                self.waiting[call] = tool
            case Questioned(call=call, question=question):
                self.waiting[call] = question
            case Decided(call=call) | Answered(call=call) | Expired(call=call):
                self.waiting.pop(call, None)
            case _:
                pass


async def summaries(scope: Scope) -> AsyncIterator[RunSummary]:
    """Every run of the tenant, session by session; of one that was rolled back, where it goes on.

    Raises:
        ConfigurationError: the store cannot list its sessions.
        StoreError: the store failed, or a row is damaged.
    """
    for session in await holdings_of(scope).streams():
        if "~" in session:
            continue  # what a rollback left or made is read under its session's name
        runs: dict[str, RunSummary] = {}
        async for row in scope.journal.read(await head_of(scope.journal, session)):
            if row.run:
                runs.setdefault(row.run, RunSummary(row.run)).take(row)
        for one in runs.values():
            yield one


def time_of(at_us: int) -> str:
    """A time as a person reads it, in the zone of this machine."""
    moment = datetime.datetime.fromtimestamp(at_us / 1_000_000, datetime.UTC).astimezone()
    return f"{moment:%Y-%m-%d %H:%M}"


def duration(us: int) -> str:
    """A length of time in its largest units."""
    seconds = us / 1_000_000
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds:.1f} s"
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    return f"{minutes} min" if hours == 0 else f"{hours} h {minutes % 60} min"


def money(cost: Decimal | None) -> str:
    """US dollars, to a hundredth of a cent."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
