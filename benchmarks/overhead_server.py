"""The server side of `overhead.py`: answers the n-th request with the n-th reply of a script.

    PYTHONPATH=tests python benchmarks/overhead_server.py SCRIPT

It writes what the loopback server of the tests would write, made before the first request, and drops
what it is sent unread: a server that parses megabytes beside the client would push the client's data
out of the caches that they share, and be measured there. Its URL is the first line it prints.
"""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from loopback import Answer, Usage, read_replies, stream_plan
from loopback_answers import Envelope

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
PIECE = 65_536
"""Bytes that are read at a time."""


def wires(script: Path) -> Iterator[bytes]:
    """The responses, in order."""
    for place, answer in enumerate(read_replies(script)):
        if not isinstance(answer, Answer):
            raise SystemExit(f"reply {place} of {script} is no answer")
        yield stream_plan(answer, answer, Envelope(f"msg_{place:04}", "claude", Usage()), HEAD).wire


def requests(connection: socket.socket) -> Iterator[int]:
    """The length of each request of a connection, after it was read."""
    data = b""
    while piece := connection.recv(PIECE):
        data += piece
        head, end, body = data.partition(b"\r\n\r\n")
        if not end:
            continue
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        left = length - len(body)
        while left > 0:
            left -= len(connection.recv(min(left, PIECE)))
        data = b""
        yield length


def main() -> None:
    """Serves one connection until it is closed."""
    responses = list(wires(Path(sys.argv[1])))
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(f"http://127.0.0.1:{server.getsockname()[1]}", flush=True)
        connection, _ = server.accept()
        with connection:
            for _, response in zip(requests(connection), responses, strict=False):
                connection.sendall(response)


if __name__ == "__main__":
    main()
