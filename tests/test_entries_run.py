"""Entries in a run: what the model reads, and that nothing is posted without a person's approval."""

from pathlib import Path

import pytest

from entries_books import GL, Json, entry, line
from offing.engine import Engine, MemoryStore, Scripted
from offing.engine.cli.systems import Systems
from offing.engine.models.scripted import CallResult, Playbook
from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger
from test_entries_posting import names_in

pytestmark = pytest.mark.anyio
CHARGE = entry(line("7000", "28.50"), line("1200", "-28.50"))
WHY = "entries__post_entry needs a person's approval, and approvals cannot be given yet. Not executed."


async def test_posting_is_refused_with_the_reason_and_a_proposal_can_be_cited(tmp_path: Path) -> None:
    books = tmp_path / "gl.csv"
    books.write_text(GL)
    read: list[CallResult] = []

    async def play(book: Playbook, message: str) -> str:
        proposed = await book.call("entries__invoke_tool", tool="propose_entry", arguments={"entry": CHARGE})
        posted = await book.call("entries__post_entry", entry=proposed.json["entry"])
        read[:] = [proposed, posted]
        total = proposed.json["total"][0]
        return f"I propose to enter {total['value']} GBP [[{total['record']}]]."

    ledger = Ledger([books])
    async with Engine(Scripted(play), [ledger, Entries(ledger)], store=MemoryStore()) as engine:
        result = await engine.session().ask("Enter the charge.")
    assert (result.answered, result.unlinked) == (True, ())
    proposed, posted = read
    assert (posted.error, posted.text) == (True, WHY)
    name = proposed.json["proposal"]
    assert result.answer == f"I propose to enter 28.50 GBP [[entries:proposal/{name}/total]]."
    assert (books.read_text(), names_in(tmp_path)) == (GL, ["gl.csv"])
    content: Json = proposed.json
    assert content["as_written"].splitlines()[1] == (
        "offing-...,30/09/2026,1200,Bank,Charges September,,,28.50,GBP"
    )


def test_the_command_line_connects_entries_where_there_are_books(tmp_path: Path) -> None:
    books = tmp_path / "gl.csv"
    books.write_text(GL)
    systems = Systems("demo", ledger=(str(books),))
    assert [each.name for each in systems.namespaces()] == ["ledger", "entries"]
