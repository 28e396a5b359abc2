"""The names of runs and calls in a tree of runs: positions, so whoever resumes finds each again.

`september.3` is a top run. Its call `17.2` hands work to strands; the first one's run is called
`september.3.17.2.1`. The calls of that run have the same path in front: `17.2.1.4.1` is the first of its
fourth reply. So no two calls of a stream, and no two handles, are ever called the same.
"""

_TOP = 2
"""Parts of a top run's name: session and number."""
_STEP = 3
"""Parts that each generation adds: two of the call, one of the strand."""


def child_of(run: str, call: str, number: int) -> str:
    """The run of a strand, from 1, of a call of `run`."""
    return f"{top_of(run)}.{call}.{number}"


def path_of(call: str, number: int) -> str:
    """What stands in front of the names of the calls that a strand makes."""
    return f"{call}.{number}"


def lineage(run: str) -> tuple[str, ...]:
    """The top run, its child, and so on down to the run itself."""
    parts = run.split(".")
    return tuple(".".join(parts[:end]) for end in range(_TOP, len(parts) + 1, _STEP))


def top_of(run: str) -> str:
    """The run that the tree began with."""
    return ".".join(run.split(".")[:_TOP])


def parent_of(run: str) -> str:
    """Whose child a run is; empty for a top run."""
    above = lineage(run)[:-1]
    return above[-1] if above else ""


def maker_of(top: str, call: str) -> str:
    """The run of the tree below `top` that a call belongs to."""
    return ".".join([top, *call.split(".")[:-2]])
