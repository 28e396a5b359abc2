"""Every point of the scenario and of the whole demo, on SQLite and on PostgreSQL: what `make kill-all` runs.

    python tests/kill_all.py [--workers N]

It needs a PostgreSQL server that is installed, and starts one of its own. The exit status is 1 when anything
is lost, repeated or wrong.
"""

import argparse
import sys

from offing.engine.crashes import Report, sweep
from postgres_server import server

SWEPT = ("crash_scenario:scenario", "crash_demo:scenario")
TITLES = {"crash_scenario:scenario": "scenario", "crash_demo:scenario": "`offing demo`"}
HEAD = """\
| | store | points | killed | inside tools | lost | repeated | reported unknown | not executed, told | s |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"""


def row(report: Report) -> str:
    counts = (report.points, len(report.killed), report.inside, report.lost, report.repeated)
    told = (report.doubtful, report.withheld, round(report.seconds))
    cells = [TITLES[report.scenario], report.store, *(f"{count:,}" for count in (*counts, *told))]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=None, help="journeys at the same time")
    workers: int | None = parser.parse_args().workers
    reports: list[Report] = []
    for scenario in SWEPT:
        for store in ("", server().url("postgres")):
            reports.append(sweep(scenario, store=store, workers=workers))
            sys.stderr.write(f"{reports[-1].text()}\n")
    sys.stdout.write("\n".join([HEAD, *map(row, reports), ""]))
    return 0 if all(report.is_clean for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
