"""Posting: once, whole or not at all, never over somebody else's change, and found again after a kill."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import JsonValue

from entries_books import GL, Json, desk, desk_over, entry, line
from offing.namespaces.entries.drafting import draft
from offing.namespaces.entries.entry import Entry, mark_of
from offing.namespaces.entries.posting import alone, replace, write_draft
from offing.namespaces.entries.shelf import Shelf
from offing.namespaces.errors import NamespaceError
from offing.namespaces.tool import Inspection

pytestmark = pytest.mark.anyio
MARK = mark_of("key")


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


POSTED = (
    f"{MARK},30/09/2026,7000,Bank charges,Charges September,,28.50,,GBP\n"
    f"{MARK},30/09/2026,1200,Bank,Charges September,,,28.50,GBP\n"
)


async def test_an_approved_entry_is_appended_and_comes_back_with_the_records_of_the_books(
    tmp_path: Path,
) -> None:
    books = await desk_over(tmp_path, GL)
    output = books.post(entry())
    assert (tmp_path / "gl.csv").read_text() == GL + POSTED
    records = [f"ledger:line/2026-09-30/{MARK}-{number}" for number in (1, 2)]
    assert output.content == {
        "outcome": "posted",
        "file": "gl.csv",
        "mark": MARK,
        "lines": [
            {"account": "7000 Bank charges", "amount": "28.50", "record": records[0]},
            {"account": "1200 Bank", "amount": "-28.50", "record": records[1]},
        ],
    }
    known = {each.record.id: each.record for of in books.ledger.contents().accounts for each in of.postings}
    assert output.records == tuple(known[each] for each in records)
    assert names_in(tmp_path) == ["gl.csv"]


async def test_the_same_call_posts_once_and_another_call_posts_again(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = books.canonical(entry())
    first = books.call("post_entry", entry=given)
    again: Json = books.call("post_entry", entry=given)
    assert again.content["outcome"] == "it was posted before by this call; nothing was written now"
    assert again.records == first.records
    assert (tmp_path / "gl.csv").read_text() == GL + POSTED
    other = books.call("post_entry", "another key", entry=given)
    assert (tmp_path / "gl.csv").read_text() == GL + POSTED + POSTED.replace(MARK, mark_of("another key"))
    assert not {each.id for each in other.records} & {each.id for each in first.records}


async def test_only_the_entry_that_was_shown_can_be_posted(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    loose = entry(line("7000", "28.5"), line("1200", "-28.5"))
    output: Json = books.call("post_entry", entry=loose)
    assert output.error
    assert output.content["entry"] == books.canonical(entry())
    assert (tmp_path / "gl.csv").read_text() == GL


async def test_what_is_wrong_with_an_entry_is_found_again_when_it_is_posted(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = books.canonical(entry())
    (tmp_path / "gl.csv").write_text(GL.replace("7000,Bank charges", "7001,Fees"))
    assert books.call("post_entry", entry=given).error
    assert "offing" not in (tmp_path / "gl.csv").read_text()


async def test_a_kill_before_the_file_is_replaced_leaves_it_as_it_was(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given, path = books.canonical(entry()), tmp_path / "gl.csv"
    shelf = Shelf(books.ledger)
    ready = draft(Entry.model_validate(given), MARK, shelf.source("gl.csv"), shelf)
    beside = write_draft(path, ready.data)
    assert (path.read_text(), beside.read_bytes()) == (GL, ready.data)
    assert await books.inspect(given) == Inspection("not done")
    books.call("post_entry", entry=given)
    assert (path.read_text(), names_in(tmp_path)) == (GL + POSTED, ["gl.csv"])


async def test_a_kill_after_the_file_is_replaced_is_found_to_be_done(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given, path = books.canonical(entry()), tmp_path / "gl.csv"
    shelf = Shelf(books.ledger)
    ready = draft(Entry.model_validate(given), MARK, shelf.source("gl.csv"), shelf)
    replace(path, write_draft(path, ready.data), GL.encode())
    found = await books.inspect(given)
    assert found.outcome == "done"
    assert found.output is not None
    assert [each.id for each in found.output.records] == [
        f"ledger:line/2026-09-30/{MARK}-{number}" for number in (1, 2)
    ]
    assert await books.inspect(given, "another key") == Inspection("not done")


async def test_a_change_by_somebody_else_is_never_overwritten(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given, path = books.canonical(entry()), tmp_path / "gl.csv"
    shelf = Shelf(books.ledger)
    source = shelf.source("gl.csv")
    beside = write_draft(path, draft(Entry.model_validate(given), MARK, source, shelf).data)
    theirs = GL + "10,30/09/2026,5000,Rent,More,,1.00,,GBP\n10,30/09/2026,1200,Bank,More,,,1.00,GBP\n"
    path.write_text(theirs)
    with pytest.raises(NamespaceError, match="changed meanwhile"):
        replace(path, beside, source.data)
    assert (path.read_text(), names_in(tmp_path)) == (theirs, ["gl.csv"])
    books.call("post_entry", entry=given)
    assert path.read_text() == theirs + POSTED


async def test_two_processes_do_not_post_at_the_same_time(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = books.canonical(entry())
    with alone(tmp_path / "gl.csv"), pytest.raises(NamespaceError, match="somebody else is posting"):
        books.call("post_entry", entry=given)
    assert (tmp_path / "gl.csv").read_text() == GL


async def test_a_write_protected_file_is_left_alone(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given, path = books.canonical(entry()), tmp_path / "gl.csv"
    path.chmod(0o444)
    with pytest.raises(NamespaceError, match="write-protected"):
        books.call("post_entry", entry=given)
    assert path.read_text() == GL


@pytest.mark.parametrize("beside", ["~$gl.csv", ".~lock.gl.csv#"])
async def test_a_file_that_is_open_in_a_spreadsheet_program_is_left_alone(
    tmp_path: Path, beside: str
) -> None:
    books = await desk_over(tmp_path, GL)
    given = books.canonical(entry())
    (tmp_path / beside).write_text("somebody")
    with pytest.raises(NamespaceError, match="close it there"):
        books.call("post_entry", entry=given)
    assert (tmp_path / "gl.csv").read_text() == GL


async def test_the_file_behind_a_link_is_replaced_with_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    books = await desk_over(tmp_path / "kept", GL)
    path = tmp_path / "kept" / "gl.csv"
    path.chmod(0o640)
    (tmp_path / "linked").mkdir()
    link = tmp_path / "linked" / "gl.csv"
    link.symlink_to(path)
    through = await desk_over(tmp_path / "linked", GL)
    through.post(entry())
    assert link.is_symlink()
    assert (path.read_text(), path.stat().st_mode & 0o777) == (GL + POSTED, 0o640)
    again: Json = books.call("post_entry", entry=books.canonical(entry())).content
    assert again["outcome"].startswith("it was posted before")


async def test_a_closing_balance_that_would_not_tie_any_more_is_told_before(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL + ",30/09/2026,1200,Bank,Closing balance,,82.00,,GBP\n")
    assert [each["what"] for each in books.propose(entry())["notices"]] == [
        "with the entry, gl.csv line 9: 1200 Bank does not tie: its lines make 53.50, stated is 82.00"
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "Date,Text,Amount\n2026-09-14,x,1.50\n2026-09-15,y,-1.50\n",
            "the file has no column for accounts, so no row of it could name one",
        ),
        (
            "Date,Account,Amount\n2026-09-14,gl,1.50\n2026-09-14,b,-1.50\n",
            "the file has no column for texts, so the entry could not be found again",
        ),
    ],
)
async def test_a_file_that_cannot_take_the_entry_is_refused_and_the_entry_still_shown(
    tmp_path: Path, content: str, told: str
) -> None:
    books = await desk_over(tmp_path, content)
    lines: list[dict[str, JsonValue]] = [line("gl", "1"), line("b", "-1", new_account=True)]
    proposed = books.propose(entry(*lines))
    assert proposed["cannot_be_posted"] == told
    assert proposed["as_written"] == "2026-09-30 Charges September\n  debit  gl  1.00\n  credit b  1.00"
    with pytest.raises(NamespaceError, match=told):
        books.call("post_entry", entry=proposed["entry"])
    assert (tmp_path / "gl.csv").read_text() == content


async def test_a_database_is_left_to_its_program_and_the_entry_still_shown(tmp_path: Path) -> None:
    path = tmp_path / "books.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE gl (journal, date, account, text, debit, credit, currency)")
        rows = [("1", "2026-09-14", "Bank", "Sale", "5.00", "", "GBP")]
        rows += [("1", "2026-09-14", "Sales", "Sale", "", "5.00", "GBP")]
        database.executemany("INSERT INTO gl VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        database.commit()
    books = await desk([path])
    proposed = books.propose(entry(line("Sales", "1"), line("Bank", "-1")))
    told = "books.db is a sql file, which only the program that keeps it may write: enter it there"
    assert proposed["cannot_be_posted"] == told
    before = path.read_bytes()
    with pytest.raises(NamespaceError, match="only the program that keeps it"):
        books.call("post_entry", entry=proposed["entry"])
    assert (path.read_bytes(), await books.inspect(proposed["entry"])) == (before, Inspection("not done"))


async def test_whether_an_entry_stands_in_a_file_that_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = books.canonical(entry())
    (tmp_path / "gl.csv").unlink()
    with pytest.raises(NamespaceError, match="there is no such file"):
        await books.inspect(given)
