"""What importing the engine costs: wall time of `import offing.engine` in fresh processes.

    python benchmarks/import_time.py [--repeats 21]

The median over the repeats, less that of a process that does nothing, taken in turns; the byte code is
compiled before the first. The least is told beside it: far below the median, the machine was busy. Also
told is which packages of others the import loads: no SDK of a provider is to be among them, those load
at first use. The exit status is 0 whatever comes out.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

GOAL_S = 0.3
SDKS = frozenset(
    {"anthropic", "litellm", "mcp", "opentelemetry", "tiktoken", "httpx", "httpx2", "jsonschema"}
)
"""What loads at first use."""
LOADED = """
import json, sys
import offing.engine
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)))
"""


def seconds(source: str) -> float:
    """Wall time of a fresh interpreter that runs the source."""
    since = time.perf_counter()
    subprocess.run([sys.executable, "-c", source], check=True)
    return time.perf_counter() - since


def loaded() -> frozenset[str]:
    """The packages outside the standard library that the import loads."""
    told = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    return frozenset(json.loads(told.stdout))


def main() -> None:
    """Measures and tells."""
    options = argparse.ArgumentParser(description="Wall time of importing the engine.")
    options.add_argument("--repeats", type=int, default=21)
    repeats = options.parse_args().repeats
    packages = loaded()
    runs = [(seconds("import offing.engine"), seconds("pass")) for _ in range(repeats)]
    whole, nothing = (statistics.median(each) for each in zip(*runs, strict=True))
    took = whole - nothing
    least = min(each for each, _ in runs) - min(each for _, each in runs)
    print(f"import offing.engine: {took * 1000:.0f} ms more than the {nothing * 1000:.0f} ms of `pass`")
    print(f"at the least: {least * 1000:.0f} ms more")
    print(f"{'holds' if took < GOAL_S else 'DOES NOT HOLD'}: under {GOAL_S * 1000:.0f} ms")
    sdks = sorted(packages & SDKS)
    print(f"{'DOES NOT HOLD' if sdks else 'holds'}: no SDK is loaded{': ' if sdks else ''}{', '.join(sdks)}")
    print(f"loaded: {', '.join(sorted(name for name in packages if not name.startswith('_')))}")


if __name__ == "__main__":
    main()
