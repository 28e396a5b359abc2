"""A run over an OpenAPI service: calls, errors, approval, what is unknown, and what a kill leaves behind."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from inline_snapshot import snapshot

from offing.engine import Engine, MemoryStore, Result, Scripted, Step
from offing.engine.state import fold
from openapi_billing import CREDENTIALS, TOKEN, Billing, billing
from openapi_service import Line, Seen, Service
from worlds import invoke, outside

INVOICE = {"customer": "ACME", "amount": "120.00"}


@dataclass
class Ran:
    """What became of a run, and what the service has of it."""

    engine: Engine
    service: Service
    books: Billing
    store: MemoryStore
    model: Scripted
    results: list[Result] = field(default_factory=list[Result])

    async def told(self) -> list[str]:
        """What the model read of its calls."""
        state = await fold(self.engine.store.journal.read("s"))
        return [one.content for message in state.conversation.messages for one in message.results]

    async def journal(self) -> str:
        return str([row async for row in self.engine.store.journal.read("s")])


@asynccontextmanager
async def ran(*steps: Step | str, cut: str = "") -> AsyncGenerator[Ran]:
    """Runs the steps; the connection of each call to a target of that ending is cut after its effect."""
    books = Billing()
    store = MemoryStore()

    async def respond(seen: Seen, line: Line) -> None:
        if cut and seen.target.endswith(cut):
            books.sent.append(int(seen.target.split("/")[2]))
            line.cut()
        else:
            await books(seen, line)

    model = Scripted(steps)
    async with (
        Service(respond) as service,
        Engine(model, [billing(service.url)], store=store, outside=outside()) as engine,
    ):
        made = Ran(engine, service, books, store, model)
        made.results.append(await engine.session("s", credentials=CREDENTIALS).ask("Go."))
        yield made
        model.check_finished()


def call(name: str, **arguments: object) -> Step:
    return Step(calls=[invoke(name, ns="billing", **arguments)])  # type: ignore[arg-type]


async def test_the_model_calls_operations_and_reads_answers_and_errors_as_the_server_wrote_them() -> None:
    steps: Sequence[Step | str] = [
        call("create_invoice", body=INVOICE),
        call("list_invoices", status="open"),
        call("send_invoice", number=9),
        call("create_invoice", body={"customer": "ACME", "amount": 120, "number": 7}),
        "Done.",
    ]
    async with ran(*steps) as run:
        assert run.results[0].answered
        *answers, refused = await run.told()
        assert answers == snapshot(
            [
                '{"status":201,"body":{"number":"1","customer":"ACME","amount":"120.00"}}',
                '{"status":200,"headers":{"x-total-count":"1"},'
                '"body":[{"number":"1","customer":"ACME","amount":"120.00"}]}',
                '{"status":404,"body":{"error":"there is no /invoices/9/send"}}',
            ]
        )
        assert refused.splitlines()[:3] == [
            "The arguments do not fit create_invoice:",
            '- body: got {"customer": "ACME", "amount": 120, "number": 7}; '
            "Additional properties are not allowed ('number' was unexpected)",
            '- body.amount: got 120; expected type "string"',
        ]
        journal = await run.journal()
        prompts = str([request.segments for request in run.model.requests])
    assert TOKEN not in journal + prompts
    assert [seen.headers["authorization"] for seen in run.service.seen] == [f"Bearer {TOKEN}"] * 3


async def test_a_token_that_the_server_says_again_is_not_told() -> None:
    async with ran(call("list_invoices"), "Done.") as run:
        run.service.respond = _echo
        model = Scripted([call("list_invoices"), "Done."])
        async with Engine(model, [billing(run.service.url)], store=run.store, outside=outside()) as engine:
            await engine.session("t", credentials=CREDENTIALS).ask("Go.")
            state = await fold(engine.store.journal.read("t"))
            journal = str([row async for row in engine.store.journal.read("t")])
    told = [one.content for message in state.conversation.messages for one in message.results]
    assert told == ['{"status":500,"body":{"you sent":"Bearer [secret]"}}']
    assert TOKEN not in journal


async def _echo(seen: Seen, line: Line) -> None:
    await line.answer({"you sent": seen.headers["authorization"]}, 500)


async def test_a_delete_waits_for_a_person() -> None:
    steps = [call("create_invoice", body=INVOICE), call("delete_invoice", number=1), "Gone."]
    async with ran(*steps) as run:
        (waiting,) = run.results
        assert (waiting.why, waiting.approvals[0].tool) == ("waiting", "billing__delete_invoice")
        assert list(run.books.invoices) == [1]
        await run.engine.inbox.approve(
            "s.1", waiting.approvals[0].call, by="ann", digest=waiting.approvals[0].digest
        )
        result = await (await run.engine.session("s").resume("s.1")).result()
        assert (result.answer, run.books.invoices) == ("Gone.", {})
        assert (await run.told())[1] == '{"status":204}'


async def test_a_connection_that_is_cut_after_the_request_leaves_a_once_call_unknown() -> None:
    async with ran(call("send_invoice", number=3), "I do not know.", cut="/send") as run:
        (result,) = run.results
        assert result.unknown == ("1.1",)
        (told,) = await run.told()
        assert told.startswith(
            "Outcome unknown: billing__send_invoice was started and did not come to an end "
            "(it was sent and no answer came: "
        )
        assert told.endswith("It may have taken effect. Inspect before repeating.")
        assert run.books.sent == [3]


async def test_what_is_sent_again_after_a_kill_carries_the_same_key_and_takes_effect_once(
    tmp_path: Path,
) -> None:
    books = Billing()
    processes: list[asyncio.subprocess.Process] = []

    async def respond(seen: Seen, line: Line) -> None:
        if len(processes) == 1:  # the invoice is made, and nobody lives to hear of it
            books.created(seen)
            os.kill(processes[0].pid, signal.SIGKILL)
        else:
            await books(seen, line)

    async with Service(respond) as service:
        first = await live(tmp_path, service.url, processes)
        second = await live(tmp_path, service.url, processes)
    assert (processes[0].returncode, first) == (-signal.SIGKILL, b"")
    created = '{"status":201,"body":{"number":"1","customer":"ACME","amount":"120.00"}}'
    answer = f"Created: {created}"
    assert json.loads(second) == {"why": "answered", "answer": answer, "detail": "", "unknown": []}
    keys = [seen.headers["idempotency-key"] for seen in service.seen]
    assert (len(keys), len(set(keys)), len(books.invoices)) == (2, 1, 1)


async def live(folder: Path, url: str, processes: list[asyncio.subprocess.Process]) -> bytes:
    """One process; what it printed."""
    script = Path(__file__).with_name("openapi_billing.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, folder, url, stdout=asyncio.subprocess.PIPE
    )
    processes.append(process)
    told, _ = await process.communicate()
    return told


async def test_a_service_that_is_not_there_is_told_and_the_run_goes_on() -> None:
    model = Scripted(["Nothing to be done."])
    namespace = billing("ftp://nowhere")
    async with Engine(model, [namespace], outside=outside()) as engine:
        session = engine.session("s", credentials=CREDENTIALS)
        assert (await session.ask("Go.")).answered
    assert (
        "server 'ftp://nowhere' has to be an http or https URL"
        in b"".join(model.requests[0].segments).decode()
    )
