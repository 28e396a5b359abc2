"""The tools of the entries namespace."""

import asyncio
import datetime
from typing import Annotated

from pydantic import Field, JsonValue

from ..errors import NamespaceError
from ..functions import tool
from ..ledger.accounts import Books
from ..ledger.namespace import Ledger
from ..tool import Arguments, Effect, Inspection, Tool, ToolContext, ToolOutput
from .checks import Checked, Notice, check
from .drafting import draft
from .duplicates import newest
from .entry import Entry, as_json, mark_of
from .formats.plain import plain_text
from .posting import alone, check_writable, replace, write_draft
from .proposal import notices_of, proposal_of, shown
from .reversal import reversal_of
from .shelf import Shelf

_BOOKS = frozenset({"ledger"})
"""Lines and balances of the books keep the ids that the ledger gave them."""
_TIMEOUT_S = 300.0
"""Large books are read up to three times for one entry."""
_UNPOSTED = "offing-..."
"""Stands for the mark of an entry that nobody posts yet."""


def entries_tools(ledger: Ledger, closed_until: datetime.date | None) -> tuple[Tool, ...]:
    """The tools over the books; only `post_entry` changes anything, and a person has to approve it."""
    entries = _EntriesTools(ledger, closed_until)
    reads = tool(effect=Effect.READ, record_namespaces=_BOOKS, timeout_s=_TIMEOUT_S)
    posts = tool(
        effect=Effect.ONCE,
        destructive=True,
        writes=frozenset({"books"}),
        record_namespaces=_BOOKS,
        inspect=entries.inspect,
        preview=entries.preview,
        timeout_s=_TIMEOUT_S,
    )
    return reads(entries.propose_entry), reads(entries.reverse_entry), posts(entries.post_entry)


class _EntriesTools:
    def __init__(self, ledger: Ledger, closed_until: datetime.date | None) -> None:
        self._ledger, self._closed_until = ledger, closed_until
        self._shelf = Shelf(ledger)

    def propose_entry(self, entry: Entry) -> ToolOutput:
        """Checks a journal entry and shows it as it would stand in the books; changes nothing."""
        return self._proposed(entry, self._ledger.contents())

    def reverse_entry(
        self,
        journal: Annotated[
            str, Field(min_length=1, description="Journal number as ledger__get_gl_detail shows it")
        ],
        date: Annotated[datetime.date, Field(description="Day of the reversal, YYYY-MM-DD")],
        text: Annotated[str, Field(min_length=1, max_length=200, description="Why it is reversed")],
    ) -> ToolOutput:
        """Proposes the entry that takes a journal of the books back; changes nothing."""
        books = self._ledger.contents()
        return self._proposed(reversal_of(books.journal(journal), date, text), books)

    def post_entry(self, entry: Entry, context: ToolContext) -> ToolOutput:
        """Posts an entry to the books, just as propose_entry gave it; a person has to approve it."""
        path, mark = self._shelf.path(entry.file), mark_of(context.idempotency_key)
        with alone(path):
            source = self._shelf.source(entry.file)
            if self._shelf.holds(mark, source):
                return self._posted(entry, mark, "it was posted before by this call; nothing was written now")
            checked = check(entry, self._ledger.contents(), self._closed_until)
            if checked.problems:
                return _refused(checked)
            if checked.entry != entry:
                return _not_canonical(checked)
            check_writable(path)
            done = draft(entry, mark, source, self._shelf)
            replace(path, write_draft(path, done.data), source.data)
        return self._posted(entry, mark, "posted")

    async def preview(self, arguments: Arguments, context: ToolContext) -> str:
        """The entry as it would stand in its file, for the person who approves it."""
        entry = Entry.model_validate(arguments["entry"])
        return await asyncio.to_thread(self._previewed, entry)

    def _previewed(self, entry: Entry) -> str:
        where = f"to be posted to {entry.file}:\n\n" if entry.file else ""
        try:
            written = draft(entry, _UNPOSTED, self._shelf.source(entry.file), self._shelf).text
        except NamespaceError as error:
            written = f"{plain_text(entry)}\n(It cannot be posted: {error})"
        return f"{plain_text(entry)}\n{where}{written}"

    async def inspect(self, arguments: Arguments, context: ToolContext) -> Inspection:
        """Whether the entry of a call stands in the books, by the mark that the call gives it."""
        return await asyncio.to_thread(self._inspected, arguments, mark_of(context.idempotency_key))

    def _inspected(self, arguments: Arguments, mark: str) -> Inspection:
        entry = Entry.model_validate(arguments["entry"])
        if not self._shelf.holds(mark, self._shelf.source(entry.file)):
            return Inspection("not done")
        return Inspection("done", self._posted(entry, mark, "posted before a restart"))

    def _proposed(self, entry: Entry, books: Books) -> ToolOutput:
        checked = check(entry, books, self._closed_until)
        if checked.problems or checked.file is None:
            return _refused(checked)
        proposal = proposal_of(checked)
        content = shown(proposal)
        try:
            done = draft(proposal.entry, _UNPOSTED, self._shelf.source(checked.file.name), self._shelf)
            content["as_written"] = done.text
            notices = [*checked.notices, *(Notice(each) for each in done.findings)]
        except NamespaceError as error:
            content["as_written"] = plain_text(proposal.entry)
            content["cannot_be_posted"] = str(error)
            notices = [*checked.notices]
        content["format"] = checked.file.format
        content["notices"] = notices_of(notices)
        return ToolOutput(content, proposal.records)

    def _posted(self, entry: Entry, mark: str, what: str) -> ToolOutput:
        try:
            postings = newest(entry, self._ledger.contents())
        except NamespaceError as error:
            # It is posted all the same: whatever is wrong now must not look as if it were not.
            return ToolOutput({"outcome": what, "mark": mark, "cannot_be_read": str(error)})
        lines: list[JsonValue] = [
            {"account": each.line.account, "amount": str(each.line.amount), "record": each.record.id}
            for each in postings
        ]
        content: JsonValue = {"outcome": what, "file": entry.file, "mark": mark, "lines": lines}
        return ToolOutput(content, tuple(each.record for each in postings))


def _refused(checked: Checked) -> ToolOutput:
    return ToolOutput({"refused": list(checked.problems)}, error=True)


def _not_canonical(checked: Checked) -> ToolOutput:
    what = "post_entry takes the entry as propose_entry gives it, so that what is approved is what is posted"
    return ToolOutput({"refused": [what], "entry": dict(as_json(checked.entry))}, error=True)
