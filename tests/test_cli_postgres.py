"""The command line over a PostgreSQL server: who works, who approves and who goes on may be three hosts."""

import subprocess
import sys
from pathlib import Path

import pytest

from offing.engine.store.place import shown
from postgres_server import fresh_url

OFFING = [sys.executable, "-m", "offing.engine.cli"]


def offing(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    run = [*OFFING, *arguments]
    return subprocess.run(run, capture_output=True, text=True, timeout=120, check=False, cwd=folder)


def test_a_run_in_postgres_waits_is_approved_and_goes_on_in_processes_of_their_own(tmp_path: Path) -> None:
    url = fresh_url()
    begun = offing(tmp_path, "demo", "--store", url)
    assert (begun.returncode, begun.stderr) == (0, "")
    run = begun.stdout.split()[1]
    assert f"offing approve {run} 12.1 --store {url}" in begun.stdout
    assert offing(tmp_path, "approve", run, "--by", "E. Farrow", "--store", url).returncode == 0
    done = offing(tmp_path, "resume", run, "--store", url)
    assert (done.returncode, done.stderr) == (0, "")
    assert "approved by E. Farrow" in done.stdout
    assert not (tmp_path / ".offing").exists()


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("work.db", "work.db"),
        ("postgresql://me:secret@host:5433/books?sslmode=require", "postgresql://me@host:5433/books"),
        ("postgresql://me:s:e@c/ret@host/books", "postgresql://me@host/books"),
        ("postgresql:///books?password=secret", "postgresql:///books"),
    ],
)
def test_a_password_is_never_shown(where: str, told: str) -> None:
    assert shown(where) == told
