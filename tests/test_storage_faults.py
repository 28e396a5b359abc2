"""A disk that fails: a clear error that says what to do, nothing acknowledged is lost, the run goes on."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from offing.engine import Engine, Playbook, Result, Scripted, SqliteStore
from offing.engine.clock import Outside
from offing.engine.errors import LeaseHeld, StoreError
from offing.engine.store.facts import Noted
from offing.engine.store.journal import Row
from offing.namespaces import FunctionNamespace
from offing.namespaces.functions import tool
from storage_faults import FAULTS

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).parent / "storage_faults.py"
STEPS = 30
WHAT_TO_DO = {
    "full_disk": "database or disk is full. There is no room left where the database is kept: free some",
    "file_too_large": "disk I/O error. The disk does not do as it is told, or has no room left: see to it",
    "read_only_file": "give this process the right to write the file and its folder",
    "read_only_folder": "See that its folder is there and can be written",
}


def own_mounts() -> list[str]:
    """A process with mounts of its own, which go with it; or none, where that is not allowed."""
    words = ["unshare", "--mount"]
    if shutil.which("unshare") is None or os.getuid() != 0:
        return []
    return words if subprocess.run([*words, "true"], check=False).returncode == 0 else []


def meet(fault: str, folder: Path) -> dict[str, Any]:
    before = own_mounts() if fault == "full_disk" else []
    if fault == "full_disk" and not before:
        pytest.skip("a small disk can only be mounted by root, with mounts of its own")
    done = subprocess.run(
        [*before, sys.executable, SCRIPT, fault, folder],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_what_to_do_and_the_run_goes_on_when_it_is_gone(
    fault: str,
) -> None:
    with tempfile.TemporaryDirectory() as place:  # another user is to get there, as to no folder of pytest
        folder = Path(place) / "disk"
        folder.mkdir()
        Path(place).chmod(0o755)
        met = meet(fault, folder)
    assert WHAT_TO_DO[fault] in met["told"]
    assert (met["lost"], met["answer"]) == (0, "Read.")
    if fault in {"full_disk", "file_too_large"}:
        assert met["acknowledged"] > 10
    assert met["asked"] in {STEPS, STEPS + 1}  # the one that was at work reads again


# A database that is damaged while nobody uses it.


@dataclass(slots=True)
class Shop:
    """A system that pays, and counts it."""

    paid: int = 0

    async def pay(self, number: int) -> str:
        """Pays."""
        self.paid += 1
        return f"paid {number} " + "x" * 60_000


async def paying(book: Playbook, text: str) -> str:
    for number in range(int(text)):
        await book.call("shop__pay", number=number)
    return f"Paid {text}."


def engine_on(path: Path, shop: Shop) -> Engine:
    return Engine(Scripted(paying), [FunctionNamespace("shop", [tool()(shop.pay)])], store=SqliteStore(path))


async def paid_up(path: Path, shop: Shop) -> Result:
    async with engine_on(path, shop) as engine:
        return await engine.session("s").ask("4")


async def all_of(path: Path) -> list[object]:
    """Everything that a reader gets of the session, up to where it is told of a damage."""
    scope = SqliteStore(path).scoped("local")
    found: list[object] = []
    try:
        async for row in scope.journal.read("s"):
            found += [row, *[await scope.artifacts.get(one.ref) for one in getattr(row.fact, "stored", ())]]
    except StoreError as error:
        assert len(str(error)) > 20  # noqa: PT017  it is found or it is not
        return [*found, None]
    return found


async def test_an_overwritten_page_is_told_or_makes_no_difference(tmp_path: Path) -> None:
    """Page after page of the file: what is read is what was written, or the damage is told at its place."""
    path, page = tmp_path / "store.db", 4096
    await paid_up(path, Shop())
    whole, sound = await all_of(path), path.read_bytes()
    told = 0
    for number in range(len(sound) // page):
        path.write_bytes(sound[: number * page] + b"\xff" * page + sound[(number + 1) * page :])
        found = await all_of(path)
        assert found == whole or (found[-1] is None and found[:-1] == whole[: len(found) - 1]), number
        told += found != whole
    assert told > len(sound) // page // 2


def restore(backup: Path, path: Path) -> None:
    """With the write-ahead log that belongs to what is replaced taken away."""
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()
    shutil.copy(backup, path)


@pytest.mark.parametrize("left", [0.9, 0.5, 0.01])
async def test_a_truncated_file_is_told_and_with_the_backup_the_run_goes_on(
    left: float, tmp_path: Path
) -> None:
    path, shop = tmp_path / "store.db", Shop()
    await paid_up(path, shop)
    shutil.copy(path, tmp_path / "backup")
    path.write_bytes(path.read_bytes()[: int(left * path.stat().st_size)])
    async with engine_on(path, shop) as engine:
        with pytest.raises(StoreError, match=r"damaged|not a database"):
            await engine.session("s").ask("5")
    restore(tmp_path / "backup", path)
    async with engine_on(path, shop) as engine:
        result = await engine.session("s").ask("2")
    assert (result.answer, shop.paid) == ("Paid 2.", 6)


async def test_an_artifact_that_is_not_what_was_kept_is_not_given_out(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    ref = await store.scoped("local").artifacts.put(b"The amount is 1,000.00 GBP.")
    await store.close()
    path.write_bytes(path.read_bytes().replace(b"1,000.00", b"9,000.00"))
    with pytest.raises(StoreError, match="is not what was kept"):
        await SqliteStore(path).scoped("local").artifacts.get(ref)


# A clock that jumps.


@dataclass(slots=True)
class Jumping:
    """A clock that is a year off, in turns in either direction."""

    now: int = 1_790_000_000_000_000
    turns: int = 0

    def now_us(self) -> int:
        self.turns += 1
        return self.now + 31_536_000_000_000 * (self.turns % 3 - 1)

    async def sleep_until(self, at_us: int) -> None:
        pass

    def chance(self) -> float:
        return 0.0


async def test_a_clock_that_jumps_by_years_changes_neither_order_nor_owner(tmp_path: Path) -> None:
    path, shop = tmp_path / "store.db", Shop()
    other = SqliteStore(path)
    held = list[bool]()

    async def look() -> str:
        """Tries to take the session meanwhile."""
        with pytest.raises(LeaseHeld):
            await other.scoped("local").journal.acquire("s")
        held.append(True)
        return "held"

    systems = [FunctionNamespace("shop", [tool()(shop.pay), tool()(look)])]

    async def looking(book: Playbook, text: str) -> str:
        for number in range(5):
            await book.call("shop__pay", number=number)
            await book.call("shop__look")
        return "Paid."

    store, outside = SqliteStore(path), Outside(clock=Jumping())
    async with Engine(Scripted(looking), systems, store=store, outside=outside) as engine:
        result = await engine.session("s").ask("Go.")
    rows = [row async for row in other.scoped("local").journal.read("s")]
    assert (result.answer, shop.paid, held) == ("Paid.", 5, [True] * 5)
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    assert len({row.at for row in rows}) == 3
    await other.close()


async def test_what_two_stores_write_at_once_waits_for_each_other(tmp_path: Path) -> None:
    """A lock that is held for a moment is no fault."""
    stores = [SqliteStore(tmp_path / "store.db") for _ in range(4)]

    async def write(number: int) -> None:
        journal = stores[number].scoped("local").journal
        lease = await journal.acquire(f"s{number}")
        for seq in range(1, 26):
            await journal.append(lease, [Row(seq, "s.1", 0, Noted(str(seq), ""))])
        await stores[number].close()

    await asyncio.gather(*map(write, range(4)))
    for number in range(4):
        found = [
            row async for row in SqliteStore(tmp_path / "store.db").scoped("local").journal.read(f"s{number}")
        ]
        assert len(found) == 25
