"""A scenario that does wrong what can be done wrong, each at a point of its own; it has no engine."""

from collections.abc import Iterable
from pathlib import Path

from offing.engine.crashes import Deed, Place
from offing.engine.points import passing


class Faults:
    def live(self, place: Place) -> str | None:
        lives = Kept(place, "lives")
        lives.add("one")
        passing("nothing is wrong here")
        if lives.all[1:] and Kept(place, "breaks").all == ["begun"]:
            raise ValueError("the state makes no sense")
        if Kept(place, "stalls").all == ["begun"]:
            return None
        self._repeats(place)
        self._forgets(place)
        for what in ("breaks", "stalls"):
            kept = Kept(place, what)
            kept.add("begun")
            passing(what)
            kept.add("ended")
        return self._answered(place)

    def _repeats(self, place: Place) -> None:
        done = Kept(place, "repeats")
        if not done.all:
            Kept(place, "deeds").add("paid twice")
            passing("repeats")
            done.add("done")

    def _forgets(self, place: Place) -> None:
        done = Kept(place, "forgets")
        if not done.all:
            done.add("done")
            passing("forgets")
            Kept(place, "deeds").add("never paid")

    def _answered(self, place: Place) -> str:
        again = Kept(place, "answer").all
        Kept(place, "answer").add("begun")
        passing("answers otherwise")
        return "The answer, again." if again else "The answer."

    def deeds(self, place: Place) -> Iterable[Deed]:
        return [Deed(line) for line in Kept(place, "deeds").all]

    def problems(self, place: Place) -> Iterable[str]:
        if len(Kept(place, "ended").all) > 1:
            yield "it ended twice"
        Kept(place, "ended").add("once")


class Kept:
    """Lines of a file."""

    def __init__(self, place: Place, name: str) -> None:
        self._path: Path = place.folder / name

    @property
    def all(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []

    def add(self, line: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{line}\n")


scenario = Faults()
