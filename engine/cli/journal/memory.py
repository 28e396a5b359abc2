"""`offing memory`: what is remembered from one session to the next, for a person to look at and to delete."""

import argparse
import json

from ...clock import SystemClock
from ...errors import ConfigurationError
from ...memory import found
from ...store.memories import MemoryItem
from ..command import Command
from ..exits import DONE, FAILED, ExitCode
from ..ground import Ground
from .summary import time_of

_MOST = 1_000_000
"""Items that are listed: all of them."""


async def listed(ground: Ground, query: str, user: str | None, *, as_json: bool) -> ExitCode:
    """Lists what is remembered, best fitting first, then the newest.

    Raises:
        ConfigurationError: there is no store.
        StoreError: the store failed.
    """
    kept = ground.existing()
    try:
        items = await kept.scoped(ground.tenant).memory.items(user)
    finally:
        await kept.close()
    fitting = found(items, query, SystemClock().now_us(), _MOST)
    for item in fitting:
        for line in [_json(item)] if as_json else _lines(item):
            ground.screen.line(line)
    if not fitting and not as_json:
        ground.screen.line("nothing is remembered that fits" if query else "nothing is remembered")
    return DONE


async def forget(ground: Ground, ids: list[str], user: str | None, *, everything: bool) -> ExitCode:
    """Deletes items: those of the ids, or all of a user, or all.

    Raises:
        ConfigurationError: there is no store, or it is not said what is to be forgotten.
        StoreError: the store failed; nothing was deleted.
    """
    if bool(ids) == everything:
        raise ConfigurationError(
            "say what is to be forgotten: ids, as `offing memory list` shows them, or --all"
        )
    kept = ground.existing()
    try:
        memory = kept.scoped(ground.tenant).memory
        wanted = [item.id for item in await memory.items(user)] if everything else ids
        gone = await memory.forget(wanted)
    finally:
        await kept.close()
    ground.screen.line(f"{gone} forgotten")
    return DONE if gone == len(set(wanted)) else FAILED


def _lines(item: MemoryItem) -> list[str]:
    whose = f" of {item.user}" if item.user else ""
    until = "" if item.expires_at is None else f", until {time_of(item.expires_at)}"
    origin = f"{time_of(item.at)}, run {item.run}, call {item.call}"
    return [f"{item.id}{whose} ({origin}{until})", f"    {item.text}"]


def _json(item: MemoryItem) -> str:
    fields = {
        "id": item.id,
        "user": item.user,
        "text": item.text,
        "run": item.run,
        "call": item.call,
        "at_us": item.at,
        "expires_at_us": item.expires_at,
    }
    return json.dumps(fields, ensure_ascii=False)


def _arguments(made: argparse.ArgumentParser) -> None:
    below = made.add_subparsers(dest="what", required=True, metavar="list|search|forget")
    for name, told in (("list", "all of it"), ("search", "what fits some words")):
        one = below.add_parser(name, help=told)
        if name == "search":
            one.add_argument("query", help="words; more of them found ranks higher")
        one.add_argument("--user", help="only what is this user's, as the host names people")
        one.add_argument("--json", action="store_true", help="one JSON object a line")
    gone = below.add_parser("forget", help="delete items for good")
    gone.add_argument("ids", nargs="*", metavar="ID")
    gone.add_argument("--all", action="store_true", help="all of it, or all of --user")
    gone.add_argument("--user", help="only what is this user's")


async def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    if given.what == "forget":
        return await forget(ground, given.ids, given.user, everything=given.all)
    query = given.query if given.what == "search" else ""
    return await listed(ground, query, given.user, as_json=given.json)


MEMORY = Command("memory", "what is remembered across sessions: list, search, forget", _arguments, _work)
