"""The errors of tracing. They come while it is set up: a trace that cannot be kept never raises."""


class TracingError(Exception):
    """A setting that cannot work: names the value and what would be right."""
