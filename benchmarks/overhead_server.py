"""The server side of `overhead.py`: answers the n-th request with the n-th reply of a script.

    PYTHONPATH=tests python benchmarks/overhead_server.py {anthropic|litellm} SCRIPT

It writes what the loopback server of the tests would write (to litellm: what OpenAI's chat completions
look like), made before the first request, and drops
what it is sent unread: a server that parses megabytes beside the client would push the client's data
out of the caches that they share, and be measured there. Its URL is the first line it prints.
"""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from loopback import Answer, OpenAI, Seen, Usage, read_replies, stream_plan
from loopback_answers import Envelope

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
PIECE = 65_536
"""Bytes that are read at a time."""


def wires(wire: str, script: Path) -> Iterator[bytes]:
    """The responses, in order."""
    made = {"anthropic": message, "litellm": completion}[wire]
    for place, answer in enumerate(read_replies(script)):
        if not isinstance(answer, Answer):
            raise SystemExit(f"reply {place} of {script} is no answer")
        yield made(place, answer)


def message(place: int, answer: Answer) -> bytes:
    """A reply of Anthropic's `POST /v1/messages`."""
    return stream_plan(answer, answer, Envelope(f"msg_{place:04}", "claude", Usage()), HEAD).wire


def completion(place: int, answer: Answer) -> bytes:
    """A reply of OpenAI's `POST /v1/chat/completions`."""
    asked = {"model": "x", "stream_options": {"include_usage": True}}
    seen = Seen("/v1/chat/completions", {}, f"request {place}".encode(), asked)
    return OpenAI().exchange(seen, f"req_{place:06}").plan(answer).wire


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


def asked(server: socket.socket) -> Iterator[socket.socket]:
    """The connection that waits for a response, again and again.

    One connection at a time: a client that waited long for its turn may come with a new one.
    """
    while True:
        connection, _ = server.accept()
        with connection:
            for _ in requests(connection):
                yield connection


def main() -> None:
    """Serves until it is ended."""
    wire, script = sys.argv[1:]
    responses = list(wires(wire, Path(script)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(f"http://127.0.0.1:{server.getsockname()[1]}", flush=True)
        for connection, response in zip(asked(server), responses, strict=False):
            connection.sendall(response)


if __name__ == "__main__":
    main()
