"""Makes docs/tracing-phoenix.png and docs/tracing-report.png anew: the failing run of the tests, looked at.

    make phoenix && PHOENIX=.phoenix python benchmarks/screenshots.py

It needs chromium, and Phoenix in an environment of its own. The run is that of `tests/failing_run.py`: 40
iterations, a call that goes wrong in the 31st, one that fails in silence in the 12th.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
sys.path.insert(0, str(HERE.parent / "tests"))

from failing_run import fail  # noqa: E402
from offing.engine import Result  # noqa: E402
from offing.engine.cli.main import main as offing  # noqa: E402
from offing.engine.clock import Outside  # noqa: E402
from offing.engine.store import SqliteStore  # noqa: E402
from offing.tracing import OtlpSink, Tracing  # noqa: E402
from phoenix_server import Phoenix, phoenix  # noqa: E402
from test_cli_trace import QUIET  # noqa: E402

PROJECT = "close"
LOADS_MS = 20_000
"""Of the page's own time, until all that it asks for is there."""
PROJECTS = "{ projects { edges { node { id name } } } }"


def picture(address: str, file: Path, width: int, height: int, folder: Path) -> None:
    """What a browser shows of an address."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("chromium is not installed")
    window = [f"--window-size={width},{height}", "--hide-scrollbars", f"--user-data-dir={folder / 'browser'}"]
    taken = [f"--virtual-time-budget={LOADS_MS}", f"--screenshot={file}", address]
    subprocess.run([chromium, *QUIET, *window, *taken], check=True, capture_output=True, timeout=180)
    print(f"{file.relative_to(HERE.parent)}: {file.stat().st_size // 1000} kB")


def worked(server: Phoenix, store: Path) -> Result:
    """The run, kept in a store and sent to Phoenix."""
    sink = OtlpSink(server.traces, resource={"openinference.project.name": PROJECT})
    return asyncio.run(fail(Tracing([sink], content=True), clock=Outside(), store=SqliteStore(store)))


def page_of(server: Phoenix, result: Result) -> str:
    """The address of the run's trace."""
    server.spans(PROJECT, 123)
    edges = server.query(PROJECTS)["projects"]["edges"]
    (project,) = (each["node"]["id"] for each in edges if each["node"]["name"] == PROJECT)
    return f"{server.url}/projects/{project}/traces/{result.trace}"


def main() -> None:
    """Makes both."""
    with tempfile.TemporaryDirectory() as place:
        folder, store = Path(place), Path(place) / "offing.db"
        (folder / "phoenix").mkdir()
        with phoenix(folder / "phoenix") as server:
            result = worked(server, store)
            picture(page_of(server, result), DOCS / "tracing-phoenix.png", 1400, 860, folder)
        page = folder / "report.html"
        if offing(["report", result.run, "--html", "--out", str(page), "--store", str(store)]):
            raise SystemExit("no report")
        picture(page.as_uri(), DOCS / "tracing-report.png", 1160, 1000, folder)


if __name__ == "__main__":
    main()
