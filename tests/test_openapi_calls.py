"""Calls of operations over real sockets: bodies, credentials, answers good and hostile, unknown outcomes."""

import asyncio
import base64
import gzip
import json
import logging
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from offing.namespaces import Attachment, Effect, ToolOutput, ToolPolicy
from offing.namespaces.errors import NamespaceError
from offing.namespaces.openapi import OpenApi
from openapi_service import (
    KEY,
    Anything,
    Line,
    Respond,
    Seen,
    Service,
    connected,
    document,
    nothing,
    says,
    written,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
LATE = 1.0
"""Seconds: time enough for a request to go out, on a busy machine too."""
TOKEN = "tok-5up3r53cr3t"


async def called(
    folder: Path,
    respond: Respond,
    operation: dict[str, Any] | None = None,
    method: str = "get",
    **options: Anything,
) -> tuple[ToolOutput, list[Seen]]:
    """What a call of the one operation comes to, and what was sent for it."""
    arguments = options.pop("arguments", {})
    credentials, files = options.pop("credentials", {}), options.pop("files", {})
    more = options.pop("more", {})
    async with Service(respond) as service:
        made = document(
            {"/it": {method: {"operationId": "it", **(operation or {})}}}, server=service.url, **more
        )
        async with connected(OpenApi("api", written(folder, made), **options), credentials, files) as call:
            return await call("it", **arguments), service.seen


def takes(content_type: str, schema: Anything, **more: Anything) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {content_type: {"schema": schema, **more}}}}


# Bodies


async def test_a_json_body_is_sent_as_it_was_given(tmp_path: Path) -> None:
    given = {"amount": "10.00", "name": "Zoë \ud83d", "n": [1, 2.5, None, True]}
    output, (seen,) = await called(
        tmp_path,
        says({"id": 7}, 201, location="/it/7"),
        takes("application/json", {}),
        "post",
        arguments={"body": given},
    )
    assert (seen.method, seen.target, seen.json) == ("POST", "/it", given)
    assert seen.headers["content-type"] == "application/json"
    assert output == ToolOutput({"status": 201, "headers": {"location": "/it/7"}, "body": {"id": 7}})


async def test_a_form_is_sent_as_one(tmp_path: Path) -> None:
    schema: Anything = {"type": "object", "properties": {"a": {}, "list": {}, "o": {}, "deep": {}}}
    more = {"encoding": {"deep": {"style": "deepObject", "explode": True}}}
    given = {"a": "x y&z", "list": [1, 2], "o": {"k": 1}, "deep": {"k": "v"}}
    operation = takes("application/x-www-form-urlencoded", schema, **more)
    _, (seen,) = await called(tmp_path, nothing, operation, "post", arguments={"body": given})
    assert seen.body == b"a=x+y%26z&list=1&list=2&o=%7B%22k%22%3A1%7D&deep%5Bk%5D=v"
    assert seen.headers["content-type"] == "application/x-www-form-urlencoded"


async def test_a_multipart_body_holds_the_bytes_behind_handles(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "meta": {"type": "object"},
            "scans": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
    }
    operation = takes("multipart/form-data", schema, encoding={"scans": {"contentType": "image/png"}})
    given = {"note": "for you", "meta": {"a": 1}, "scans": ["result/1.1/a.png", "files/b.png"]}
    files = {"result/1.1/a.png": PNG, "files/b.png": b"second"}
    _, (seen,) = await called(tmp_path, nothing, operation, "post", arguments={"body": given}, files=files)
    boundary = KEY[:32]
    assert seen.headers["content-type"] == f"multipart/form-data; boundary={boundary}"
    parts = [
        b'Content-Disposition: form-data; name="note"\r\nContent-Type: text/plain\r\n\r\nfor you',
        b'Content-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}',
        b'Content-Disposition: form-data; name="scans"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
        + PNG,
        b'Content-Disposition: form-data; name="scans"; filename="b.png"\r\n'
        b"Content-Type: image/png\r\n\r\nsecond",
    ]
    line = b"--" + boundary.encode()
    assert seen.body == b"".join(line + b"\r\n" + part + b"\r\n" for part in parts) + line + b"--\r\n"


async def test_bytes_and_text_are_bodies_too(tmp_path: Path) -> None:
    arguments = {"body": "result/1.1/a.png"}
    files = {"result/1.1/a.png": PNG}
    _, (seen,) = await called(
        tmp_path, nothing, takes("image/png", {}), "put", arguments=arguments, files=files
    )
    assert (seen.body, seen.headers["content-type"]) == (PNG, "image/png")
    _, (seen,) = await called(tmp_path, nothing, takes("text/plain", {}), "put", arguments={"body": "Zoë"})
    assert (seen.body, seen.headers["content-type"]) == ("Zoë".encode(), "text/plain; charset=utf-8")


async def test_of_several_types_of_body_the_best_is_written(tmp_path: Path) -> None:
    content: Anything = {
        "application/xml": {"schema": {}},
        "text/plain": {"schema": {}},
        "application/vnd.x+json": {"schema": {}},
    }
    _, (seen,) = await called(
        tmp_path, nothing, {"requestBody": {"content": content}}, "post", arguments={"body": [1]}
    )
    assert (seen.body, seen.headers["content-type"]) == (b"[1]", "application/vnd.x+json")


async def test_a_handle_that_is_not_there_sends_nothing(tmp_path: Path) -> None:
    output, seen = await called(
        tmp_path, nothing, takes("image/png", {}), "put", arguments={"body": "/etc/passwd"}
    )
    told = "Not sent: '/etc/passwd' is no handle of this session; a file is named by its handle"
    assert (output, seen) == (ToolOutput(told, error=True), [])


async def test_a_call_without_a_body_sends_none(tmp_path: Path) -> None:
    _, (seen,) = await called(
        tmp_path, nothing, {"requestBody": {"content": {"application/json": {}}}}, "post"
    )
    assert (seen.body, seen.headers.get("content-type"), seen.headers["content-length"]) == (b"", None, "0")


# Credentials

SCHEMES: Anything = {
    "header_key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query_key": {"type": "apiKey", "in": "query", "name": "api key"},
    "cookie_key": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "Basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://x"},
    "digest": {"type": "http", "scheme": "digest"},
    "tls": {"type": "mutualTLS"},
}


def secured(*ways: Sequence[str]) -> dict[str, Any]:
    """What makes a document ask for the credentials of any of these ways."""
    security = [{name: list[str]() for name in way} for way in ways]
    return {"components": {"securitySchemes": SCHEMES}, "security": security}


@pytest.mark.parametrize(
    ("scheme", "secret", "header", "expected"),
    [
        ("header_key", TOKEN, "x-key", TOKEN),
        ("cookie_key", "a b;c", "cookie", "sid=a%20b%3Bc"),
        ("basic", "Aladdin:open sesame", "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  # RFC 7617
        ("bearer", TOKEN, "authorization", f"Bearer {TOKEN}"),
        ("oauth", TOKEN, "authorization", f"Bearer {TOKEN}"),
        ("oidc", TOKEN, "authorization", f"Bearer {TOKEN}"),
    ],
)
async def test_a_credential_goes_where_its_scheme_says(
    scheme: str, secret: str, header: str, expected: str, tmp_path: Path
) -> None:
    more = secured([scheme])
    _, (seen,) = await called(tmp_path, nothing, more=more, credentials={scheme: secret})
    assert seen.headers[header] == expected


async def test_a_key_in_the_query_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    more = secured(["query_key"])
    with caplog.at_level(logging.DEBUG):
        _, (seen,) = await called(tmp_path, nothing, more=more, credentials={"query_key": "a&b/5up3r53cr3t"})
    assert seen.target == "/it?api%20key=a%26b%2F5up3r53cr3t"
    assert "5up3r53cr3t" not in caplog.text


async def test_the_first_way_that_has_its_credentials_is_gone(tmp_path: Path) -> None:
    more = secured(["digest"], ["bearer"], ["header_key", "query_key"], [])
    credentials = {"header_key": "k1", "query_key": "k2"}
    _, (seen,) = await called(tmp_path, nothing, more=more, credentials=credentials)
    assert (seen.target, seen.headers["x-key"]) == ("/it?api%20key=k2", "k1")
    _, (seen,) = await called(tmp_path, nothing, more=more)
    assert "authorization" not in seen.headers


async def test_a_credential_that_is_missing_or_wrong_is_named_and_nothing_is_sent(tmp_path: Path) -> None:
    more = secured(["basic"], ["bearer", "header_key"])
    output, seen = await called(tmp_path, nothing, more=more, credentials={"bearer": TOKEN})
    needed = "it needs the credential 'basic' or 'bearer' with 'header_key'"
    told = f"{needed}, which the host has not given for this session"
    assert (output, seen) == (ToolOutput(f"Not sent: {told}", error=True), [])
    output, seen = await called(tmp_path, nothing, more=more, credentials={"basic": TOKEN})
    told = "the credential 'basic' is for http basic: it has to be written user:password"
    assert (output, seen) == (ToolOutput(f"Not sent: {told}", error=True), [])
    output, seen = await called(tmp_path, nothing, more=more, credentials={"basic": f"u:{TOKEN}\r\nX: 1"})
    assert (output.content, seen) == (
        "Not sent: the credential 'basic' is empty or has control characters",
        [],
    )


async def test_a_parameter_that_is_a_credential_or_frames_the_message_is_no_argument(tmp_path: Path) -> None:
    names = ["x-key", "Host", "Content-Length", "Transfer-Encoding"]
    parameters = [{"name": name, "in": "header", "required": True} for name in names]
    more = secured(["header_key"])
    _, (seen,) = await called(
        tmp_path, nothing, {"parameters": parameters}, more=more, credentials={"header_key": "k"}
    )
    assert seen.headers["x-key"] == "k"


async def test_a_server_that_says_a_credential_again_is_not_quoted(tmp_path: Path) -> None:
    more = secured(["basic"])
    encoded = base64.b64encode(b"user:5up3r53cr3t").decode()

    async def echo(seen: Seen, line: Line) -> None:
        again = json.dumps({**seen.headers, "raw": "user:5up3r53cr3t"}).encode()
        await line.answer(again, content_type="application/zip", location=f"/?u={encoded}")

    output, _ = await called(tmp_path, echo, more=more, credentials={"basic": "user:5up3r53cr3t"})
    shown = {"status": 200, "headers": {"location": "/?u=[secret]"}, "body": "in the attachment it.zip"}
    assert output.content == shown
    told = f"{output.content}{[one.data for one in output.attachments]}"
    assert "Basic [secret]" in told
    assert encoded not in told
    assert "5up3r53cr3t" not in told


# Answers


@pytest.mark.parametrize(
    ("respond", "expected"),
    [
        (says([1, {"a": None}]), ToolOutput({"status": 200, "body": [1, {"a": None}]})),
        (says(b""), ToolOutput({"status": 200})),
        (says(b'{"a": 1.10}'), ToolOutput({"status": 200, "body": {"a": 1.1}})),
        (
            says(b'{"a": 12345678901234567.89}'),
            ToolOutput('HTTP 200 OK\n\n{"a": 12345678901234567.89}'),
        ),
        (says(b'{"a": NaN}'), ToolOutput('HTTP 200 OK\n\n{"a": NaN}')),
        (says(b"{oops"), ToolOutput("HTTP 200 OK\n\n{oops")),
        (says(b"[" * 5_000), ToolOutput("HTTP 200 OK\n\n" + "[" * 5_000)),
        (says(b"plain", content_type="text/plain"), ToolOutput("HTTP 200 OK\n\nplain")),
        (says(b"a,\xe4", content_type="text/csv; charset=latin-1"), ToolOutput("HTTP 200 OK\n\na,ä")),
        (says(b"\xff", content_type="text/csv; charset=nonsense"), ToolOutput("HTTP 200 OK\n\n\ufffd")),
        (says(b'{"a":1}', content_type=""), ToolOutput({"status": 200, "body": {"a": 1}})),
        (says(b"<a/>", content_type="application/atom+xml"), ToolOutput("HTTP 200 OK\n\n<a/>")),
        (
            says({"error": "no such thing"}, 404),
            ToolOutput({"status": 404, "body": {"error": "no such thing"}}, error=True),
        ),
        (
            says(b"<h1>Bad gateway</h1>", 502, "text/html", retry_after="3"),
            ToolOutput("HTTP 502 Bad Gateway\nretry-after: 3\n\n<h1>Bad gateway</h1>", error=True),
        ),
        (says(b"odd", 299, "text/plain"), ToolOutput("HTTP 299\n\nodd")),
        (
            says(PNG, content_type="image/png"),
            ToolOutput(
                {"status": 200, "body": "in the attachment it.png"},
                attachments=(Attachment("it.png", PNG, "image/png"),),
            ),
        ),
        (
            says(
                b"no picture",
                content_type="image/png",
                content_disposition='attachment; filename="../../a.png"',
            ),
            ToolOutput(
                {"status": 200, "body": "in the attachment a.png"},
                attachments=(Attachment("a.png", b"no picture"),),
            ),
        ),
        (
            says(b"\x00\x01", content_type=""),
            ToolOutput(
                {"status": 200, "body": "in the attachment it.bin"},
                attachments=(Attachment("it.bin", b"\x00\x01"),),
            ),
        ),
        (
            says(gzip.compress(b'{"a":1}'), content_encoding="gzip"),
            ToolOutput({"status": 200, "body": {"a": 1}}),
        ),
        (
            says(gzip.compress(b'{"a":') + gzip.compress(b"1}") + b"\x00", content_encoding="gzip"),
            ToolOutput({"status": 200, "body": {"a": 1}}),
        ),
        (
            says(zlib.compress(b'{"a":1}'), content_encoding="deflate"),
            ToolOutput({"status": 200, "body": {"a": 1}}),
        ),
        (
            says(zlib.compress(b'{"a":1}')[2:-4], content_encoding="deflate"),
            ToolOutput({"status": 200, "body": {"a": 1}}),
        ),
    ],
)
async def test_an_answer_is_told_as_what_it_is(
    respond: Respond, expected: ToolOutput, tmp_path: Path
) -> None:
    output, (seen,) = await called(tmp_path, respond)
    assert output == expected
    assert (seen.headers["accept"], seen.headers["accept-encoding"]) == (
        "application/json, */*;q=0.8",
        "gzip, deflate",
    )


async def test_headers_that_the_document_tells_are_told(tmp_path: Path) -> None:
    operation: Anything = {"responses": {"200": {"headers": {"X-Total": {}, "Content-Type": {}}}}}
    output, _ = await called(
        tmp_path, says([], x_total="9", x_other="1", link="</it?page=2>; rel=next"), operation
    )
    headers = {"x-total": "9", "link": "</it?page=2>; rel=next"}
    assert output.content == {"status": 200, "headers": headers, "body": []}


def bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([packer.compress(bytes(1_000_000)) for _ in range(20)]) + packer.flush()


async def endless(seen: Seen, line: Line) -> None:
    """A gigabyte, if it is let."""
    await line.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000000\r\n\r\n")
    for _ in range(10_000):
        await line.raw(b"x" * 100_000)


async def slow(seen: Seen, line: Line) -> None:
    await line.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nbegun")
    await asyncio.Event().wait()


async def silent(seen: Seen, line: Line) -> None:
    await asyncio.Event().wait()


async def cut(seen: Seen, line: Line) -> None:
    line.cut()


async def broken(seen: Seen, line: Line) -> None:
    await line.raw(b"HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nbegun")
    line.cut()


async def no_http(seen: Seen, line: Line) -> None:
    await line.raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    line.cut()


@pytest.mark.parametrize(
    ("respond", "told"),
    [
        (endless, "HTTP 200 OK\n(The body is not whole: it was cut at 1,000 bytes.)\n\n" + "x" * 1_000),
        (
            says(bomb(), content_type="text/plain", content_encoding="gzip"),
            "(The body is not whole: it was cut at 1,000 bytes.)",
        ),
        (
            says(gzip.compress(b"abc")[:-6], content_type="text/plain", content_encoding="gzip"),
            "(The body is not whole: its gzip data ends early.)",
        ),
        (
            says(b"no gzip", content_type="text/plain", content_encoding="gzip"),
            "the body is not whole: its gzip data is damaged",
        ),
        (
            says(b"\x0b\x02", content_type="text/plain", content_encoding="br"),
            "it is packed with 'br', which was not asked for",
        ),
        (slow, "HTTP 200 OK\n(The body is not whole: there was no end of it within 1 s.)\n\nbegun"),
        (broken, "HTTP 201 Created\n(The body is not whole: the connection broke.)\n\nbegun"),
        (silent, "No answer came; it may be called again: there was no end of it within 1 s"),
        (cut, "No answer came; it may be called again: Re"),
        (no_http, "No answer came; it may be called again: RemoteProtocolError"),
    ],
)
async def test_a_hostile_answer_to_a_reading_call_is_an_error_that_says_so(
    respond: Respond, told: str, tmp_path: Path
) -> None:
    output, _ = await called(
        tmp_path, respond, max_bytes=1_000, timeout_s=LATE if respond in {slow, silent} else 60
    )
    assert output.error
    assert told in str(output.content)
    assert len(str(output.content)) < 1_200


async def test_a_body_that_is_not_whole_does_not_make_a_done_call_a_failed_one(tmp_path: Path) -> None:
    output, _ = await called(tmp_path, broken, method="post")
    assert (output.error, str(output.content)[:16]) == (False, "HTTP 201 Created")


@pytest.mark.parametrize("respond", [silent, cut, no_http])
async def test_a_once_call_that_went_out_without_an_answer_is_unknown(
    respond: Respond, tmp_path: Path
) -> None:
    output, _ = await called(tmp_path, respond, method="post", timeout_s=LATE if respond is silent else 60)
    assert (output.error, output.unknown) == (True, True)
    assert str(output.content).startswith("it was sent and no answer came: ")


async def test_a_once_call_that_never_went_out_is_an_ordinary_error(tmp_path: Path) -> None:
    async with Service() as service:
        url = service.url
    made = written(tmp_path, document({"/it": {"post": {"operationId": "it"}}}, server=url))
    async with connected(OpenApi("api", made)) as call:
        output = await call("it")
    assert output == ToolOutput("It was not sent: ConnectError: All connection attempts failed", error=True)


async def test_what_the_host_calls_repeatable_is_never_unknown(tmp_path: Path) -> None:
    policies = [ToolPolicy("it", effect=Effect.REPEATABLE)]
    output, _ = await called(tmp_path, cut, method="post", policies=policies)
    assert (output.error, output.unknown) == (True, False)
    assert str(output.content).startswith("No answer came; it may be called again: ")


# Redirects


def sends_on(status: int, to: str) -> Respond:
    async def respond(seen: Seen, line: Line) -> None:
        if seen.target == "/it":
            await line.answer(status=status, location=to, content_type="")
        else:
            await line.answer({"at": seen.target, "by": seen.method, "with": seen.body.decode()})

    return respond


@pytest.mark.parametrize(
    ("method", "status", "followed"),
    [
        ("get", 301, True),
        ("get", 302, True),
        ("get", 303, True),
        ("get", 307, True),
        ("get", 308, True),
        ("post", 307, True),
        ("post", 308, True),
        ("post", 302, False),
        ("post", 303, False),
        ("get", 300, False),
    ],
)
async def test_a_redirect_inside_the_origin_is_followed_where_the_request_stays_what_it_is(
    method: str,
    status: int,
    followed: Anything,
    tmp_path: Path,
) -> None:
    operation = takes("text/plain", {}) if method == "post" else {}
    arguments = {"body": "b"} if method == "post" else {}
    output, _ = await called(tmp_path, sends_on(status, "/there?a=1"), operation, method, arguments=arguments)
    there = {"at": "/there?a=1", "by": method.upper(), "with": arguments.get("body", "")}
    elsewhere = {"status": status, "headers": {"location": "/there?a=1"}}
    assert output.content == ({"status": 200, "body": there} if followed else elsewhere)


async def test_a_redirect_to_another_host_is_shown_and_not_followed(tmp_path: Path) -> None:
    async with Service() as other:
        more = secured(["bearer"])
        for place in (f"{other.url}/steal", "//evil.example/x", "https://127.0.0.1:99999/", "http://[::"):
            output, _ = await called(tmp_path, sends_on(307, place), more=more, credentials={"bearer": TOKEN})
            assert output.content == {"status": 307, "headers": {"location": place}}
    assert other.seen == []


async def test_redirects_that_never_end_do(tmp_path: Path) -> None:
    output, seen = await called(tmp_path, says(status=302, location="/it", content_type=""))
    assert (output.content, len(seen)) == ({"status": 302, "headers": {"location": "/it"}}, 6)


# Idempotency keys


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"type": "string"}, KEY),
        ({"type": "string", "format": "uuid"}, "01234567-89ab-4def-8123-456789abcdef"),
        ({"type": "string", "maxLength": 20}, KEY[:20]),
    ],
)
async def test_a_declared_idempotency_key_is_the_engine_s_and_no_argument(
    schema: dict[str, Any], sent: str, tmp_path: Path
) -> None:
    parameters = [{"name": "idempotency-key", "in": "header", "required": True, "schema": schema}]
    _, (seen,) = await called(tmp_path, nothing, {"parameters": parameters}, "post")
    assert seen.headers["idempotency-key"] == sent


async def test_the_host_can_say_where_a_key_goes(tmp_path: Path) -> None:
    _, (seen,) = await called(tmp_path, nothing, method="post", idempotency={"i*": "X-Once"})
    assert seen.headers["x-once"] == KEY
    _, (seen,) = await called(tmp_path, nothing, method="post", idempotency={"other": "X-Once"})
    assert "x-once" not in seen.headers


async def test_a_call_with_a_key_is_sent_again_after_a_kill_unless_the_host_says_not_to(
    tmp_path: Path,
) -> None:
    key = {"name": "Idempotency-Key", "in": "header"}
    paths = {
        "/a": {"post": {"operationId": "declared", "parameters": [key]}},
        "/b": {"post": {"operationId": "named"}},
        "/c": {"post": {"operationId": "mistrusted", "parameters": [key]}},
        "/d": {"post": {"operationId": "keyless"}},
    }
    made = written(tmp_path, document(paths, server="http://x"))
    idempotency = {"named": "X-Once", "mis*": ""}
    async with connected(OpenApi("api", made, idempotency=idempotency)) as call:
        again = {name for name, known in call.connected.tools.items() if known.tool.inspect is not None}
    assert again == {"declared", "named"}


# The document from a URL


async def test_a_document_is_fetched_from_a_url_and_its_server_may_be_relative(tmp_path: Path) -> None:
    made = document({"/it": {"get": {"operationId": "it"}}}, server="v1")

    async def respond(seen: Seen, line: Line) -> None:
        await line.answer(made if seen.target == "/docs/openapi.json" else {"at": seen.target})

    async with (
        Service(respond) as service,
        connected(OpenApi("api", f"{service.url}/docs/openapi.json")) as call,
    ):
        output = await call("it")
    assert output.content == {"status": 200, "body": {"at": "/docs/v1/it"}}


@pytest.mark.parametrize(
    ("respond", "reason"),
    [
        (says(b"", 404), "the document cannot be fetched: status 404"),
        (cut, "the document cannot be fetched: "),
        (says(b"<html>", content_type="text/html"), "the document is no object"),
        (
            says(status=302, location="https://evil.example/openapi.json"),
            "the document cannot be fetched: status 302",
        ),
    ],
)
async def test_a_document_that_cannot_be_fetched_says_why(respond: Respond, reason: str) -> None:
    async with Service(respond) as service:
        with pytest.raises(NamespaceError, match=reason):
            async with connected(OpenApi("api", service.url)):
                pass
