"""`python -m offing.engine.crashes my_module:scenario`: a sweep from the command line."""

import argparse
import json
import sys

from ..errors import ConfigurationError
from .sweep import Sample, sweep


def main() -> int:
    """Sweeps and reports; 0 when nothing is lost, repeated or wrong, 1 when something is, 2 for misuse."""
    parser = argparse.ArgumentParser(prog="python -m offing.engine.crashes", description=sweep.__doc__)
    parser.add_argument("scenario", help="module:attribute")
    parser.add_argument("--store", default="", help="postgresql://... (default: SQLite files)")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many points")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: %(default)s)")
    parser.add_argument("--twice", action="store_true", help="kill the process that goes on too")
    parser.add_argument("--workers", type=int, help="journeys at the same time (default: one a processor)")
    parser.add_argument("--json", action="store_true", help="the report as one JSON object")
    given = parser.parse_args()
    sample = None if given.sample is None else Sample(given.sample, given.seed)
    try:
        report = sweep(
            given.scenario, store=given.store, sample=sample, twice=given.twice, workers=given.workers
        )
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{json.dumps(report.to_json()) if given.json else report.text()}\n")
    return 0 if report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
