"""Every point of the scenarios and of the whole demo, on SQLite and on PostgreSQL: what `make kill-all` runs.

    python tests/kill_all.py [--workers N] [--sampled]

`--sampled`, as `make kill-sample` has it, takes every point of the scenario on SQLite and 40 of the rest, the
same ones each time.

It needs a PostgreSQL server that is installed, and starts one of its own. The exit status is 1 when anything
is lost, repeated or wrong.
"""

import argparse
import sys

from offing.engine.crashes import Report, Sample, sweep
from postgres_server import server

TITLES = {
    "crash_scenario:scenario": "scenario",
    "crash_children:scenario": "children",
    "crash_passes:scenario": "passes",
    "crash_demo:scenario": "`offing demo`",
}
SQLITE = {"crash_children:scenario": 12, "crash_passes:scenario": 6, "crash_demo:scenario": 6}
"""How many points of a sample are of each on SQLite; of the scenario all are."""
REST = {
    "crash_scenario:scenario": 8,
    "crash_children:scenario": 4,
    "crash_passes:scenario": 2,
    "crash_demo:scenario": 2,
}
"""How many on PostgreSQL."""
SEED = 5
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
    parser.add_argument("--sampled", action="store_true", help="of most a few points alone")
    given = parser.parse_args()
    reports: list[Report] = []
    for scenario in TITLES:
        for store in ("", server().url("postgres")):
            few = (REST if store else SQLITE).get(scenario) if given.sampled else None
            sample = None if few is None else Sample(few, SEED)
            reports.append(
                sweep(scenario, store=store, sample=sample, workers=given.workers, timeout_s=600.0)
            )
            sys.stderr.write(f"{reports[-1].text()}\n")
    sys.stdout.write("\n".join([HEAD, *map(row, reports), ""]))
    return 0 if all(report.is_clean for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
