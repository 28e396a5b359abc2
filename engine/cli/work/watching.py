"""How a run is watched: by a person, on a screen, or by a program, one JSON object a line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from pydantic import TypeAdapter

from ...answer import Result
from ...events import Event
from ...prompt import Disconnected
from ..ground import Ground
from .told import tell

_EVENT: TypeAdapter[object] = TypeAdapter(object)


class Watcher(Protocol):
    """Who is told of a run."""

    def begun(self, run: str, missing: Sequence[Disconnected]) -> None:
        """It has begun, or goes on, without these systems."""
        ...

    def show(self, event: Event) -> None:
        """Something happened."""
        ...

    def interrupted(self, run: str) -> None:
        """Somebody pressed a key; the run can be resumed."""
        ...

    def ended(self, result: Result, files: Sequence[Path]) -> None:
        """It has stopped; `files` were written."""
        ...


class OnScreen:
    """For a person."""

    def __init__(self, ground: Ground) -> None:
        self._ground, self._screen = ground, ground.screen

    def begun(self, run: str, missing: Sequence[Disconnected]) -> None:
        """Says what is not there, and the run's id."""
        for each in missing:
            self._screen.line(f"{each.name} is not connected: {each.reason}")
        self._screen.line(f"run {run}")

    def show(self, event: Event) -> None:
        """Shows it."""
        self._screen.show(event)

    def interrupted(self, run: str) -> None:
        """Says how to go on."""
        self._screen.line(f"interrupted; go on with: offing resume {run}{self._ground.again}")

    def ended(self, result: Result, files: Sequence[Path]) -> None:
        """The answer, or what is missing, and what was written."""
        self._screen.done()
        tell(result, self._ground, in_report=bool(files))
        for path in files:
            self._screen.line(f"written: {path}")


class AsLines:
    """For a program: each event as `{"event": NAME, ...}`, and `result` last."""

    def __init__(self, ground: Ground) -> None:
        self._screen = ground.screen

    def begun(self, run: str, missing: Sequence[Disconnected]) -> None:
        """The run's id, and what is not there."""
        without = [{"name": each.name, "reason": each.reason} for each in missing]
        self._line("run", {"run": run, "disconnected": without})

    def show(self, event: Event) -> None:
        """The event with its fields."""
        self._line(type(event).__name__, cast("dict[str, object]", _EVENT.dump_python(event, mode="json")))

    def interrupted(self, run: str) -> None:
        """The run's id."""
        self._line("interrupted", {"run": run})

    def ended(self, result: Result, files: Sequence[Path]) -> None:
        """The result as JSON."""
        self._line("result", {**result.to_json(), "files": [str(path) for path in files]})

    def _line(self, name: str, fields: Mapping[str, object]) -> None:
        self._screen.line(json.dumps({"event": name, **fields}, ensure_ascii=False))


def watcher_of(ground: Ground, *, as_json: bool) -> Watcher:
    """Who watches."""
    return AsLines(ground) if as_json else OnScreen(ground)
