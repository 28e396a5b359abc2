"""What a log record of the `offing` loggers says of the run that it is about."""

from collections.abc import Mapping


def of_run(run: str, trace: str) -> Mapping[str, str]:
    """The record's further fields: `run`, and `trace_id` as log exporters have it, empty without a trace."""
    return {"run": run, "trace_id": trace}
