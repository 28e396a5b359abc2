"""A user's program, as the type checkers see it from outside against the installed package."""

import asyncio
from decimal import Decimal
from pathlib import Path

from pydantic import BaseModel, SecretStr

from offing.engine import (
    About,
    Call,
    Engine,
    Limits,
    Playbook,
    Result,
    Scripted,
    SqliteStore,
    Step,
    Workspace,
)
from offing.namespaces import Effect, FunctionNamespace, Namespace, Record, ToolContext, ToolOutput, tool
from offing.namespaces.bank import Bank
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching import Matching


class Verdict(BaseModel):
    """What is asked for."""

    ties: bool
    difference: Decimal


@tool(effect=Effect.READ)
def rate(currency: str, context: ToolContext) -> ToolOutput:
    """Gives a rate."""
    context.progress(f"asking for {currency}")
    return ToolOutput("1.25", records=(Record("rates:gbp", Decimal("1.25")),))


async def playbook(book: Playbook, request: str) -> str:
    """Asks once."""
    first, second = await book.calls(Call("rates__rate", {"currency": "GBP"}), Call("tasks", {"items": []}))
    return f"{first.text} {second.error} {request}"


async def main(folder: Path) -> Result:
    """Works once each way."""
    bank, ledger = Bank([folder / "a.ofx"]), Ledger([folder / "b.csv"])
    systems: list[Namespace] = [FunctionNamespace("rates", [rate]), bank, ledger, Matching(bank, ledger)]
    store = SqliteStore(folder / "work.db")
    async with Engine(Scripted(playbook), systems, store=store, limits=Limits(iterations=20)) as engine:
        session = engine.scoped("acme").session(
            "september",
            about=About(company="Acme", entities=["Acme Ltd"], period="September"),
            credentials={"rates": {"token": SecretStr("secret")}},
            workspace=Workspace(folder),
        )
        async with session.run("What is it?", files=[folder / "a.ofx"]) as run:
            async for event in run:
                print(event)
        verdict: Verdict = await session.ask("And does it tie?", output=Verdict)
        print(verdict.difference + 1)
        return await (await engine.resume(run.id)).result()


if __name__ == "__main__":
    print(asyncio.run(main(Path())).text())
    print(Engine(Scripted([Step("done"), "again"])).blocking.ask("Go").answer)
