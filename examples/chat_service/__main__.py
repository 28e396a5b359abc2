"""`python -m chat_service`, in the folder above: the service here, with two customers to try it."""

import argparse
import secrets

import uvicorn
from pydantic import SecretStr

from offing.engine import Engine, Scripted, SqliteStore
from offing.engine.models.model import Model

from .accounts import accounts, works
from .app import service
from .people import Customer, People, Person


def main() -> None:
    """Serves until it is stopped; what was at work then goes on at the next start."""
    given = argparse.ArgumentParser(prog="chat_service")
    given.add_argument("--store", default="chat.db", help="file of the sessions")
    given.add_argument("--port", type=int, default=8000)
    given.add_argument("--model", help="such as anthropic:claude-opus-5-5; a playbook without it")
    said = given.parse_args()
    model: Model | str = said.model or Scripted(works, name="playbook")
    engine = Engine(model, [accounts()], store=SqliteStore(said.store))
    uvicorn.run(service(engine, _people()), port=said.port)


def _people() -> People:
    """Two customers with one person each. Their tokens are made anew at each start, and shown."""
    keys = {"harbour": "harbour-key-0001", "meadow": "meadow-key-00002"}
    tokens: dict[str, Person] = {}
    for name, key in keys.items():
        customer = Customer(name, f"{name.title()} Ltd", {"accounts": {"key": SecretStr(key)}})
        token = secrets.token_urlsafe()
        tokens[token] = Person("ann", customer)
        print(f"ann of {name}: Authorization: Bearer {token}")
    return People(tokens)


if __name__ == "__main__":
    main()
