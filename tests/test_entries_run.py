"""Entries in a run: what the model reads, and that nothing is posted without a person's approval."""

from pathlib import Path

import pytest

from entries_books import GL, entry, line
from offing.engine import Engine, MemoryStore, Scripted
from offing.engine.cli.work.systems import Systems
from offing.engine.models.scripted import CallResult, Playbook
from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger
from test_entries_posting import names_in

pytestmark = pytest.mark.anyio
CHARGE = entry(line("7000", "28.50"), line("1200", "-28.50"))


async def test_posting_waits_for_a_person_who_is_shown_the_entry_and_is_done_once_approved(
    tmp_path: Path,
) -> None:
    books = tmp_path / "gl.csv"
    books.write_text(GL)
    read: list[CallResult] = []

    async def play(book: Playbook, message: str) -> str:
        proposed = await book.call("entries__invoke_tool", tool="propose_entry", arguments={"entry": CHARGE})
        posted = await book.call("entries__post_entry", entry=proposed.json["entry"])
        read[:] = [proposed, posted]
        first = posted.json["lines"][0]
        return f"Entered: {first['amount']} GBP [[{first['record']}]]."

    ledger = Ledger([books])
    async with Engine(Scripted(play), [ledger, Entries(ledger)], store=MemoryStore()) as engine:
        session = engine.session()
        waiting = await session.ask("Enter the charge.")
        assert (waiting.why, books.read_text(), names_in(tmp_path)) == ("waiting", GL, ["gl.csv"])
        (request,) = waiting.approvals
        assert request.preview.splitlines()[-2:] == [
            "offing-...,30/09/2026,7000,Bank charges,Charges September,,28.50,,GBP",
            "offing-...,30/09/2026,1200,Bank,Charges September,,,28.50,GBP",
        ]
        await engine.inbox.approve(waiting.run, request.call, by="E. Farrow", digest=request.digest)
        result = await (await session.resume(waiting.run)).result()
    assert (result.answered, result.unlinked) == (True, ())
    assert [each.split(",")[2:] for each in books.read_text().removeprefix(GL).splitlines()] == [
        ["7000", "Bank charges", "Charges September", "", "28.50", "", "GBP"],
        ["1200", "Bank", "Charges September", "", "", "28.50", "GBP"],
    ]


def test_the_command_line_connects_entries_where_there_are_books(tmp_path: Path) -> None:
    books = tmp_path / "gl.csv"
    books.write_text(GL)
    systems = Systems("demo", ledger=(str(books),))
    assert [each.name for each in systems.namespaces()] == ["ledger", "entries"]
