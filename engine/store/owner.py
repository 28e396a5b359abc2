"""Who holds a lease, and whether that process is still alive.

A lease names its owner by host, boot and process, so that a process killed a moment ago is replaced
at once, without waiting for a deadline. Of another host nothing is known: there the deadline decides.
"""

import json
import os
import socket
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """One store opened by one process."""

    host: str
    space: str
    """The process ids' namespace, which containers on one host may each have; empty where there is
    none."""
    boot: str
    """Changes when the host restarts; empty where the system does not tell."""
    pid: int
    start: str
    """When the process began, in the system's own unit; empty where it does not tell. Tells a process
    from a later one with the same pid."""
    store: str
    """Random: two stores opened by one process are two owners."""

    def to_json(self) -> bytes:
        """As a lease keeps it."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, body: bytes) -> "Owner":
        """The owner that a lease names."""
        return cls(**json.loads(body))

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Owner:
    """A new owner in this process."""
    pid = os.getpid()
    return Owner(socket.gethostname(), _space(), _boot(), pid, _start(pid), uuid.uuid4().hex)


def is_dead(owner: Owner) -> bool:
    """True when the owner surely does not run any more; False when it does or cannot be seen."""
    if (owner.host, owner.space) != (socket.gethostname(), _space()):
        return False
    if owner.boot != _boot():
        return True
    start = _start(owner.pid)
    if start or owner.start:
        return start != owner.start
    return not _exists(owner.pid)


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@cache
def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _start(pid: int) -> str:
    """Field 22 of /proc/PID/stat, counted after the name, which may hold blanks and brackets."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    after_name = stat.rpartition(")")[2].split()
    return "" if after_name[0] in {"Z", "X"} else after_name[19]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
