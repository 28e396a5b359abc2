"""Small books for the tests of entries, and the tools over them called as a session calls them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger
from offing.namespaces.tool import Inspection, Tool, ToolContext, ToolOutput
from test_bank_tools import ignore, no_bytes

Json = Any
GL = """Journal,Date,Account code,Account name,Description,Reference,Debit,Credit,Currency
,01/09/2026,1200,Bank,Opening balance,,100.00,,GBP
7,14/09/2026,1200,Bank,Sale,INV 9,25.00,,GBP
7,14/09/2026,4000,Sales,Sale,INV 9,,25.00,GBP
8,30/09/2026,5000,Rent,Rent,,40.00,,GBP
8,30/09/2026,1200,Bank,Rent,,,40.00,GBP
9,30/09/2026,7000,Bank charges,August,,3.00,,GBP
9,30/09/2026,1200,Bank,August,,,3.00,GBP
"""
SHOWN = ["bank:txn/2026-09-30/8123"]


def line(account: str, amount: str, **more: JsonValue) -> dict[str, JsonValue]:
    """One line: a minus is a credit."""
    side = "credit" if amount.startswith("-") else "debit"
    return {"account": account, side: amount.lstrip("-"), "evidence": list(SHOWN), **more}


def entry(*lines: dict[str, JsonValue], **more: JsonValue) -> dict[str, JsonValue]:
    """A bank charge of 28.50, or what is given of it."""
    own = lines or (line("7000 Bank charges", "28.50"), line("1200 Bank", "-28.50"))
    return {"date": "2026-09-30", "text": "Charges September", "lines": list(own), **more}


@dataclass(frozen=True)
class Desk:
    """The tools over the files of one ledger."""

    ledger: Ledger
    tools: dict[str, Tool]

    def call(self, tool: str, key: str = "key", **arguments: JsonValue) -> ToolOutput:
        """Calls a tool as one call of a run: the same key is the same call."""
        output = self.tools[tool].call(arguments, context(key))
        assert isinstance(output, ToolOutput)
        return output

    def propose(self, given: dict[str, JsonValue]) -> Json:
        """What a proposal says."""
        return self.call("propose_entry", entry=given).content

    def canonical(self, given: dict[str, JsonValue]) -> Json:
        """The entry as it may be posted."""
        proposed = self.propose(given)
        assert "cannot_be_posted" not in proposed, proposed["cannot_be_posted"]
        return proposed["entry"]

    def post(self, given: dict[str, JsonValue], key: str = "key") -> ToolOutput:
        """Proposes, then posts what was proposed."""
        return self.call("post_entry", key, entry=self.canonical(given))

    async def inspect(self, given: Json, key: str = "key") -> Inspection:
        """What a resumed run finds out of a call."""
        look = self.tools["post_entry"].inspect
        assert look is not None
        return await look({"entry": given}, context(key))


def context(key: str) -> ToolContext:
    return ToolContext("run", "1.1", key, {}, ignore, no_bytes)


async def desk(files: Sequence[Path], **options: Any) -> Desk:  # noqa: ANN401
    """The connected namespace over the files."""
    ledger = Ledger(files, currency=options.pop("currency", None))
    async with Entries(ledger, **options).connect({}) as tools:
        return Desk(ledger, {tool.name: tool for tool in tools})


async def desk_over(folder: Path, content: str | bytes, name: str = "gl.csv", **options: Any) -> Desk:  # noqa: ANN401
    """The same over one file with that content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return await desk([path], **options)
