"""A billing service with a state of its own, which keeps its word about idempotency keys.

python tests/openapi_billing.py FOLDER URL      runs, or goes on with, one run that creates an invoice
"""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, SecretStr

from offing.engine import Engine, Playbook, Result, Scripted
from offing.engine.store import SqliteStore
from offing.namespaces.openapi import OpenApi
from openapi_service import Line, Seen

DOCUMENT = Path(__file__).parent / "openapi_documents" / "billing.yaml"
TOKEN = "tok-5up3r53cr3t"
CREDENTIALS = {"billing": {"token": SecretStr(TOKEN)}}


async def play(book: Playbook, message: str) -> str:
    invoice: JsonValue = {"customer": "ACME", "amount": "120.00"}
    made = await book.call("billing__invoke_tool", tool="create_invoice", arguments={"body": invoice})
    return f"Created: {made.text}"


@dataclass
class Billing:
    """The service."""

    invoices: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])
    by_key: dict[str, int] = field(default_factory=dict[str, int])
    sent: list[int] = field(default_factory=list[int])

    async def __call__(self, seen: Seen, line: Line) -> None:
        if seen.headers.get("authorization") != f"Bearer {TOKEN}":
            await line.answer({"error": "who are you?", "given": seen.headers.get("authorization")}, 401)
            return
        path = seen.target.partition("?")[0]
        match seen.method, path.split("/")[2:]:
            case "GET", []:
                await line.answer(list(self.invoices.values()), X_Total_Count=str(len(self.invoices)))
            case "POST", []:
                await line.answer(self.created(seen), 201)
            case "DELETE", [number] if self.invoices.pop(int(number), None):
                await line.answer(status=204, content_type="")
            case "POST", [number, "send"] if int(number) in self.invoices:
                self.sent.append(int(number))
                await line.answer(status=202, content_type="")
            case _:
                await line.answer({"error": f"there is no {path}"}, 404)

    def created(self, seen: Seen) -> dict[str, str]:
        """The invoice of this key: a new one, or the one that was made with it before."""
        number = self.by_key.setdefault(seen.headers["idempotency-key"], len(self.by_key) + 1)
        return self.invoices.setdefault(number, {"number": str(number), **seen.json})


def billing(url: str) -> OpenApi:
    return OpenApi("billing", DOCUMENT, variables={"address": url})


async def live(folder: Path, url: str) -> Result:
    """Begins the run, or goes on with it."""
    async with Engine(Scripted(play), [billing(url)], store=SqliteStore(folder / "store.db")) as engine:
        session = engine.session("s", credentials=CREDENTIALS)
        if [row async for row in engine.store.journal.read("s")]:
            return await (await session.resume("s.1")).result()
        return await session.ask("Bill ACME.")


if __name__ == "__main__":
    ended = asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))
    told = {"why": ended.why, "answer": ended.answer, "detail": ended.detail, "unknown": list(ended.unknown)}
    sys.stdout.write(json.dumps(told))
