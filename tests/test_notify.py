"""Somebody is told when a run stops and needs a person, and no notifier can hold a run up or end it."""

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from offing.engine import Budget, Engine, Limits, Scripted, Step
from offing.engine.errors import ConfigurationError
from offing.engine.notify import CommandNotifier, LogNotifier, Notice, Notifier, WebhookNotifier
from offing.namespaces import FunctionNamespace
from people import LOOK, Till, pay, resumed
from worlds import outside

STOPPED = Notice(
    "s.1",
    "budget",
    "the budget of 1 model calls is used up (1 spent): resume with more, such as Budget(model_calls=...)",
    1,
    None,
)
"""What is told of a run that may call the model once. Of a scripted model no price is known."""
SOON_S = 30.0


@dataclass
class Kept:
    """A notifier that keeps what it is told."""

    told: list[Notice] = field(default_factory=list[Notice])

    async def notify(self, notice: Notice) -> None:
        self.told.append(notice)


class Failing:
    """A notifier that cannot."""

    async def notify(self, notice: Notice) -> None:
        raise RuntimeError("no line")


@dataclass
class Never:
    """A notifier that does not come back before it is let."""

    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def notify(self, notice: Notice) -> None:
        await self.let.wait()


def engine(notifier: Notifier, *steps: Step | str, calls: int | None = None) -> Engine:
    system = FunctionNamespace("sys", Till().tools())
    limits = Limits(budget=Budget(model_calls=calls))
    return Engine(Scripted(steps), [system], limits=limits, notifier=notifier, outside=outside())


async def told_of_a_stop(notifier: Notifier) -> None:
    """A run whose budget ends after its first reply; the engine is closed by then."""
    async with engine(notifier, Step(calls=[LOOK]), "Done.", calls=1) as working:
        assert (await working.session("s").ask("Go.")).why == "budget"


async def test_each_stop_that_needs_a_person_is_told_once() -> None:
    kept = Kept()
    async with engine(kept, Step(calls=[pay("Acme")]), "Done.") as working:
        session = working.session("s")
        assert (await session.ask("Go.")).why == "waiting"
        await session.approve("1.1")
        assert (await resumed(session)).answered
        assert (await resumed(session)).answered  # it has stopped already: nothing is told again
    detail = "waits for approval of 1.1 (sys__pay)"
    assert kept.told == [Notice("s.1", "waiting", detail, 1, None, ("1.1",))]


async def test_a_cancelled_run_is_nobodys_to_look_at() -> None:
    kept = Kept()
    async with engine(kept, Step(calls=[pay("Acme")])) as working:
        session = working.session("s")
        await session.ask("Go.")
        await session.cancel(reason="not now")
        assert (await resumed(session)).why == "cancelled"
    assert [one.why for one in kept.told] == ["waiting"]


async def test_a_program_reads_the_notice_as_json(tmp_path: Path) -> None:
    kept = tmp_path / "notice.json"
    code = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"
    await told_of_a_stop(CommandNotifier([sys.executable, "-c", code, str(kept)]))
    assert json.loads(kept.read_text()) == as_json(STOPPED)


async def test_no_shell_reads_what_a_program_is_given(tmp_path: Path) -> None:
    kept = tmp_path / "words.json"
    code = "import json, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(json.dumps(sys.argv[2:]))"
    await told_of_a_stop(CommandNotifier([sys.executable, "-c", code, str(kept), "$HOME; exit 1", "`id`"]))
    assert json.loads(kept.read_text()) == ["$HOME; exit 1", "`id`"]


async def test_a_program_that_does_not_end_is_killed() -> None:
    forever = CommandNotifier([sys.executable, "-c", "while True: pass"], timeout_s=0.2)
    async with asyncio.timeout(SOON_S):
        with pytest.raises(TimeoutError):
            await forever.notify(STOPPED)


async def test_a_webhook_gets_the_notice_with_its_headers() -> None:
    with listening(200) as hook:
        await told_of_a_stop(WebhookNotifier(hook.url, {"authorization": "Bearer t"}))
    assert hook.got == [("application/json", "Bearer t", as_json(STOPPED))]


async def test_a_webhook_that_answers_with_an_error_has_not_been_told() -> None:
    with listening(500) as hook, pytest.raises(OSError, match="500"):
        await WebhookNotifier(hook.url).notify(STOPPED)


async def test_a_webhook_that_has_moved_takes_no_token_elsewhere() -> None:
    with listening(200) as elsewhere, listening(302, elsewhere.url) as hook:
        moved = WebhookNotifier(hook.url, {"authorization": "Bearer t"})
        await told_of_a_stop(moved)
    assert (len(hook.got), elsewhere.got) == (1, [])


async def test_the_secrets_of_a_webhook_are_not_shown() -> None:
    hook = WebhookNotifier("https://hooks.example/secret", {"authorization": "secret"})
    assert "secret" not in repr(hook)


@pytest.mark.parametrize(
    "notifier",
    [Failing(), CommandNotifier(["/no/such/program"]), WebhookNotifier("http://127.0.0.1:1")],
    ids=["raises", "no program", "nobody listens"],
)
async def test_a_notifier_that_fails_is_logged_and_the_run_stops_as_it_would(
    notifier: Notifier, caplog: pytest.LogCaptureFixture
) -> None:
    await told_of_a_stop(notifier)
    [logged] = [one.getMessage() for one in caplog.records if one.name == "offing"]
    assert logged.startswith("nobody could be told that run s.1 stopped (budget): ")


async def test_a_slow_notifier_holds_no_run_up() -> None:
    never = Never()
    async with engine(never, Step(calls=[LOOK]), Step(calls=[LOOK]), "Done.", calls=1) as working:
        session = working.session("s")
        async with asyncio.timeout(SOON_S):
            assert (await session.ask("Go.")).why == "budget"
            going = await session.resume("s.1", more=Budget(model_calls=2))
            assert (await going.result()).answered
        never.let.set()


async def test_the_log_tells_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "offing")
    await told_of_a_stop(LogNotifier())
    assert [one.getMessage() for one in caplog.records] == [f"run s.1 stopped (budget): {STOPPED.detail}"]


def test_a_notifier_that_cannot_work_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="argv cannot be 'notify-send'"):
        CommandNotifier("notify-send")
    with pytest.raises(ConfigurationError, match="a webhook cannot be 'file:///etc/hosts'"):
        WebhookNotifier("file:///etc/hosts")


def as_json(notice: Notice) -> object:
    return {
        "run": notice.run,
        "why": notice.why,
        "detail": notice.detail,
        "iteration": notice.iteration,
        "cost": notice.cost,
        "waiting": list(notice.waiting),
        "trace": notice.trace,
    }


@dataclass
class Hook:
    """A server that answers each post the same way."""

    url: str
    got: list[tuple[str | None, str | None, object]]


@contextmanager
def listening(status: int, location: str = "") -> Generator[Hook]:
    hook = Hook("", [])

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            hook.got.append(
                (self.headers["content-type"], self.headers["authorization"], json.loads(body or b"null"))
            )
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.end_headers()

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  its name

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        hook.url = f"http://127.0.0.1:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield hook
        finally:
            server.shutdown()
            thread.join()
