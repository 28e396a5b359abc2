"""Decisions about files as the stores keep them."""

import asyncio
import sqlite3
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from offing.engine.errors import StoreError
from offing.engine.store.journal import Store
from offing.engine.store.sqlite import SqliteStore
from stores import MAKERS, store_in


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Store]:
    made = store_in(request.param, tmp_path)
    yield made
    asyncio.run(made.close())


def test_a_decision_is_kept_replaced_and_forgotten(store: Store) -> None:
    readings = store.scoped("a").readings
    assert readings.load("bank", "account:DE1") is None
    readings.keep("bank", "account:DE1", "one")
    readings.keep("bank", "account:DE1", "two")
    readings.keep("ledger", "account:DE1", "other")
    assert store.scoped("a").readings.load("bank", "account:DE1") == "two"
    readings.forget("bank", "account:DE1")
    readings.forget("bank", "account:DE1")
    assert (readings.load("bank", "account:DE1"), readings.load("ledger", "account:DE1")) == (None, "other")


def test_a_decision_of_one_tenant_is_not_another_ones(store: Store) -> None:
    store.scoped("a").readings.keep("bank", "k", "a's")
    assert store.scoped("b").readings.load("bank", "k") is None


async def test_a_store_of_an_earlier_release_gets_its_table_when_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    old = SqliteStore(path)
    await old.scoped("a").artifacts.put(b"x")
    await old.close()
    connection = sqlite3.connect(path)
    connection.execute("drop table reading")
    connection.close()
    readings = SqliteStore(path).scoped("a").readings
    assert readings.load("bank", "k") is None
    readings.keep("bank", "k", "kept")
    assert readings.load("bank", "k") == "kept"


async def test_decisions_and_facts_are_written_side_by_side(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    scope = store.scoped("a")
    threads = [threading.Thread(target=scope.readings.keep, args=("bank", f"k{n}", "x")) for n in range(8)]
    for thread in threads:
        thread.start()
    refs = [await scope.artifacts.put(bytes([n])) for n in range(20)]
    for thread in threads:
        thread.join()
    await store.close()
    assert [scope.readings.load("bank", f"k{n}") for n in range(8)] == ["x"] * 8
    assert len(set(refs)) == 20


def test_a_file_that_is_no_store_says_so(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database" * 100)
    readings = SqliteStore(tmp_path / "store.db").scoped("a").readings
    with pytest.raises(StoreError, match="cannot read the store"):
        readings.load("bank", "k")
    with pytest.raises(StoreError, match="cannot write the store"):
        readings.keep("bank", "k", "x")
