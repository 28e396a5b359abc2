"""An entry that is proposed, approved and posted to books in a file, for `offing.engine.crashes`."""

from collections.abc import Iterable

from entries_books import GL, entry, line
from offing.engine import Engine, Playbook, Scripted
from offing.engine.crashes import Deed, EngineScenario, Place
from offing.engine.store import store_at
from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger

CHARGE = entry(line("7000", "28.50"), line("1200", "-28.50"))


async def play(book: Playbook, message: str) -> str:
    proposed = await book.call("entries__invoke_tool", tool="propose_entry", arguments={"entry": CHARGE})
    posted = await book.call("entries__post_entry", entry=proposed.json["entry"])
    return "not posted" if posted.error else "posted"


def engine(place: Place) -> Engine:
    books = place.folder / "gl.csv"
    if not books.exists():
        books.write_text(GL)
    ledger = Ledger([books])
    return Engine(Scripted(play), [ledger, Entries(ledger)], store=store_at(place.store))


def deeds(place: Place) -> Iterable[Deed]:
    added = (place.folder / "gl.csv").read_text().removeprefix(GL)
    return [Deed(each) for each in added.splitlines()]


scenario = EngineScenario(engine, deeds, ("Enter the charge.",))
