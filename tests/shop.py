"""A small shop as a user's own module, and a playbook over it; `set_up` puts both beside an offing.yaml."""

from pathlib import Path

MODULE = '''
"""The shop."""

import asyncio


def find(name: str) -> dict[str, str]:
    """Finds a customer by name."""
    return {"name": name, "iban": "DE12"}


def close(name: str) -> str:
    """Closes a customer's account, for good."""
    return f"closed {name}"


def broken(name: str) -> str:
    """Fails."""
    raise ValueError("the shop is shut")


async def hang(name: str) -> str:
    """Takes for ever."""
    return await asyncio.get_running_loop().create_future()


async def work(book, request):
    """Does what the request has a word for."""
    if "hang" in request:
        return (await book.call("shop__hang", name="Ada")).text
    if "close" in request:
        return f"It says: {(await book.call('shop__close', name='Ada')).text}"
    if "month" in request:
        said = await book.call("ask_user", question="Which month?", options=["August", "September"])
        return f"You said {said.text}."
    if "remember" in request:
        return (await book.call("remember", text="Ada likes short answers")).text
    if "recall" in request:
        return (await book.call("recall", query="answers")).text
    if "repeat" in request:
        for _ in range(9):
            await book.call("shop__broken", name="x")
    return f"Found {(await book.call('shop__find', name='Ada')).text}"
'''

CONFIGURATION = """\
model: playbook:shop_of_tests:work
about: {company: Own Ltd, user: Ada}
memory: true
namespaces:
  shop:
    kind: functions
    tools:
      shop_of_tests:find: {effect: read}
      shop_of_tests:broken: {effect: read}
      shop_of_tests:close: {destructive: true}
      shop_of_tests:hang: {effect: read}
"""


def set_up(folder: Path) -> None:
    """Writes the module and the configuration."""
    (folder / "shop_of_tests.py").write_text(MODULE)
    (folder / "offing.yaml").write_text(CONFIGURATION)
