"""An approved entry stands in the books once, wherever the processes that post it are killed."""

import subprocess
import sys
from pathlib import Path

from entries_books import GL
from kill_scenario import Log

KILLED = -9
ENDED = "answered: posted, unknown []"


def test_an_approved_entry_is_posted_once_wherever_the_process_is_killed(tmp_path: Path) -> None:
    scenario = Path(__file__).with_name("posting_scenario.py")
    with subprocess.Popen(
        [sys.executable, scenario], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None

        def run(folder: Path, kill_at: int) -> int:
            print(folder, kill_at, file=nursery.stdin, flush=True)
            return int(nursery.stdout.readline())  # type: ignore[union-attr]

        points = 0
        while True:
            folder = tmp_path / str(points + 1)
            folder.mkdir()
            if run(folder, points + 1) == 0:
                break
            points += 1
            assert run(folder, 0) == 0
            added = (folder / "gl.csv").read_text().removeprefix(GL).splitlines()
            assert [line.split(",")[2:] for line in added] == [
                ["7000", "Bank charges", "Charges September", "", "28.50", "", "GBP"],
                ["1200", "Bank", "Charges September", "", "", "28.50", "GBP"],
            ], Log(folder).read()
            assert Log(folder).read()[-1] == {"what": "ended", "told": ENDED}
        nursery.stdin.close()
    assert points > 40
