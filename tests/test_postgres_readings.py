"""A decision about a file is kept on the server for its tenant, until it is replaced or forgotten."""

import asyncio

import pytest

from offing.engine.store.postgres_database import PostgresDatabase
from offing.engine.store.postgres_link import Patience
from offing.engine.store.postgres_readings import PostgresReadings
from postgres_server import fresh_url

pytestmark = pytest.mark.anyio


async def test_a_decision_is_kept_for_its_tenant_until_it_is_replaced_or_forgotten() -> None:
    url = fresh_url()
    databases = [PostgresDatabase(url, Patience()) for _ in range(2)]
    ours, others, theirs = (
        PostgresReadings(tenant, database)
        for tenant, database in (("ours", databases[0]), ("ours", databases[1]), ("theirs", databases[1]))
    )
    ours.forget("bank", "a.csv")
    assert ours.load("bank", "a.csv") is None
    ours.keep("bank", "a.csv", "day first")
    ours.keep("bank", "b.csv", "é")
    assert [one.load("bank", "a.csv") for one in (ours, others, theirs)] == ["day first", "day first", None]
    await asyncio.to_thread(others.keep, "bank", "a.csv", "month first")
    assert (ours.load("bank", "a.csv"), ours.load("ledger", "a.csv")) == ("month first", None)
    theirs.forget("bank", "a.csv")
    others.forget("bank", "a.csv")
    assert (ours.load("bank", "a.csv"), ours.load("bank", "b.csv")) == (None, "é")
    for database in databases:
        database.close()
