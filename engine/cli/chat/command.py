"""`offing chat`: a conversation in a terminal; plain lines where it is piped."""

import argparse
import asyncio

from ...budget import Budget
from ...history.streams import head_of, session_named
from ...store import Store
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground
from ..journal.summary import RunSummary
from ..work.budget import add_budget, budget_of
from ..work.run import add_session, systems_said
from ..work.systems import Systems, base_of, keep_said
from ..work.told import exit_code
from ..work.working import bounded, opened
from .commands import QUIT, SLASHES
from .keyboard import Keyboard
from .talk import Talk


def chat(systems: Systems, ground: Ground, name: str | None, budget: Budget) -> ExitCode:
    """Talks until nothing more is said. Gives 0, or where it is piped what the last run came to.

    Raises:
        OffingError: the session cannot be opened, or the store failed.
    """
    if name is not None:
        session_named(name)
    configuration = bounded(systems.configured(base_of(systems, ground)), budget)
    keyboard, kept = Keyboard(ground.screen), ground.kept()
    keep_said(configuration, kept.scoped(ground.tenant).readings)
    with asyncio.Runner() as runner:
        engine = configuration.engine(model=systems.the_model(), store=kept)
        try:
            session = opened(engine, configuration, systems, name)
            talk = Talk(session, engine, ground, keyboard, runner)
            ground.screen.line(f"session {session.id}; /help says what else can be said, {QUIT} ends")
            _go_on_where_it_stands(talk, runner, kept, ground)
            _converse(talk, keyboard, ground)
        finally:
            runner.run(engine.close())
    ground.screen.line(f"go on with: offing chat {session.id}{ground.again}")
    return DONE if keyboard.live or talk.last is None else exit_code(talk.last)


def _converse(talk: Talk, keyboard: Keyboard, ground: Ground) -> None:
    while (said := keyboard.read("> ")) is not None and said != QUIT:
        word, _, rest = said.partition(" ")
        slash = SLASHES.get(word)
        if slash is not None:
            slash.do(talk, ground, rest.strip())
        elif said:
            talk.say(said)


def _go_on_where_it_stands(talk: Talk, runner: asyncio.Runner, kept: Store, ground: Ground) -> None:
    """A run of the session that was interrupted, or waits for a person, comes first."""
    newest = talk.newest()
    if newest is None:
        return
    summary = runner.run(_summary(kept, ground.tenant, talk.session.id, newest))
    if summary.why == "open" or summary.waiting:
        why = "waits for you" if summary.waiting else "was interrupted"
        ground.screen.line(f"run {newest} {why}: {' '.join(summary.text.split())[:70]}")
        talk.go_on(newest)


async def _summary(kept: Store, tenant: str, session: str, run: str) -> RunSummary:
    journal, summary = kept.scoped(tenant).journal, RunSummary(run)
    async for row in journal.read(await head_of(journal, session)):
        if row.run == run:
            summary.take(row)
    return summary


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("session", nargs="?", help="name of the session, to go on with; default: a new one")
    add_session(made)
    add_budget(made, "after which a run of it stops")


def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    return chat(systems_said(given, ground), ground, given.session, budget_of(given))


CHAT = Command("chat", "talk, over the configured systems", _arguments, _work)
