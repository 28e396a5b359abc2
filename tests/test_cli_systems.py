"""From nothing to one's own MCP server and OpenAPI service, by the file alone; and the selftest over it."""

import json
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loopback import Answer, Loopback, Text, ToolUse
from offing.engine.cli.main import main
from offing.engine.cli.setup import tested
from offing.engine.crashes import Place
from small_shop import set_up

Said = pytest.CaptureFixture[str]
Offing = Callable[..., str]
SERVER = Path(__file__).with_name("mcp_server.py")
SECRET = "s3cret-of-the-shop"
DOCUMENT = """
openapi: 3.1.0
info: {title: Billing, version: "1"}
servers: [{url: URL}]
security: [{key: []}]
components: {securitySchemes: {key: {type: http, scheme: bearer}}}
paths:
  /invoices:
    get: {operationId: list_invoices, summary: Lists invoices., responses: {"200": {description: ok}}}
    post: {operationId: add_invoice, summary: Adds one., responses: {"200": {description: ok}}}
"""


class Billing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        data = json.dumps([{"number": 1}] if SECRET in self.headers["Authorization"] else []).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as it is called there
        pass


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLING_KEY", SECRET)
    service = ThreadingHTTPServer(("127.0.0.1", 0), Billing)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{service.server_address[1]}"
    (tmp_path / "billing.yaml").write_text(DOCUMENT.replace("URL", url))
    assert main(["init"]) == 0
    text = Path("offing.yaml").read_text()
    assert "namespaces: {}" in text
    named = f"""namespaces:
  desk:
    kind: mcp
    command: [{sys.executable}, {SERVER}, log.txt]
  billing:
    kind: openapi
    document: billing.yaml
    policies: [{{tools: add_invoice, destructive: true}}]
    credentials: {{key: {{env: BILLING_KEY}}}}
"""
    Path("offing.yaml").write_text(text.replace("namespaces: {}\n", named))
    yield tmp_path
    service.shutdown()
    service.server_close()


@pytest.fixture
def offing(folder: Path, capsys: Said) -> Offing:
    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        given = main(arguments)
        said = capsys.readouterr()
        assert given == code, said
        return said.out + said.err

    return run


def test_ones_own_systems_are_connected_and_called_by_hand(offing: Offing) -> None:
    said = offing("namespaces", "list")
    assert [line.split()[0] for line in said.splitlines()] == ["desk", "billing"]
    assert json.loads(offing("namespaces", "call", "desk", "look", "word=tide")) == {
        "word": "tide",
        "found": 2,
    }
    listed = json.loads(offing("namespaces", "call", "billing", "list_invoices"))
    assert listed == {"status": 200, "body": [{"number": 1}]}
    assert "once, needs approval" in offing("namespaces", "show", "billing")


def test_a_run_works_over_both_and_shows_no_secret(
    folder: Path, offing: Offing, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        Answer(
            [
                ToolUse("desk__invoke_tool", {"tool": "look", "arguments": {"word": "tide"}}),
                ToolUse("billing__invoke_tool", {"tool": "list_invoices", "arguments": {}}),
            ]
        ),
        Answer([Text("Both are there.")]),
    ]
    with Loopback(script) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        said = offing("run", "What is there?")
        assert server.refusals == []
    assert said.endswith("\nBoth are there.\n")
    run = said.split()[1]
    shown = offing("show", run) + offing("show", run, "--json")
    assert '"found": 2' in shown or '\\"found\\":2' in shown or '"found":2' in shown
    assert SECRET not in said + shown
    assert SECRET.encode() not in (folder / ".offing" / "offing.db").read_bytes()


def test_the_selftest_kills_runs_over_the_users_own_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    set_up(tmp_path)
    with (tmp_path / "shop_of_tests.py").open("a") as module:
        module.write('\n\ndef stock() -> list[str]:\n    """Lists the stock."""\n    return ["rope"]\n')
    monkeypatch.delitem(sys.modules, "shop_of_tests", raising=False)  # another test's is without it
    with (tmp_path / "offing.yaml").open("a") as file:
        file.write("      shop_of_tests:stock: {effect: read}\n")
        file.write("tenant: acme\ncaching: {keep_warm: true}\nmodels: {child: anthropic:claude-haiku-4-5}\n")
    assert main(["selftest", "--points", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kills"], report["lost"], report["repeated"], report["wrong"]) == (2, 0, 0, 0)
    assert report["points"] > 50
    assert not (tmp_path / ".offing").exists()
    assert main(["selftest", "--config", "none.yaml"]) == 2


def test_the_selftest_has_strands_at_work_and_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(tmp_path)
    monkeypatch.setenv(tested.ORDER, tested.Order(str(tmp_path / "offing.yaml"), ()).to_json())
    place = Place(tmp_path, str(tmp_path / "work.db"))
    answers = [tested.scenario.live(place) for _ in range(2)]
    assert answers == [None, "The selftest is through."]
    files = ["one.txt", "selftest.txt", "two.txt"]
    wanted = [*(f"wrote {name}" for name in files), "remembered The selftest was here."]
    assert [deed.what for deed in tested.scenario.deeds(place)] == wanted
    with closing(sqlite3.connect(place.store)) as connection:
        bodies = connection.execute("select body from fact where kind='compacted'").fetchall()
        (delegated,) = connection.execute("select count(*) from fact where kind='delegated'").fetchone()
    assert delegated == 1
    assert [body for (body,) in bodies if json.loads(body)["done"]["stubs"]] != []
