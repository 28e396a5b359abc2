"""Traces in a folder, a file each: the sink that needs no server."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from . import otlp_json
from .queued import Queued
from .span import Attributes, Span

SUFFIX = ".jsonl"
RESOURCE: Attributes = {"service.name": "offing"}


class FileSink(Queued):
    """Appends each span to the file of its trace, `<trace id>.jsonl`, as OTLP JSON lines."""

    def __init__(self, folder: str | Path, resource: Attributes = RESOURCE) -> None:
        """`folder` is made with the first span. `resource` says what the spans come from."""
        super().__init__("trace files")
        self.folder = Path(folder)
        self._resource = resource

    def _deliver(self, spans: Sequence[Span]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        traces: dict[str, list[Span]] = defaultdict(list)
        for span in spans:
            traces[span.trace].append(span)
        for trace, ended in traces.items():
            with (self.folder / f"{trace}{SUFFIX}").open("a", encoding="utf-8") as file:
                file.write(otlp_json.line(ended, self._resource) + "\n")


def read_trace(folder: str | Path, trace: str) -> list[Span]:
    """The spans of a trace, as they were written; none when the folder has no file of it.

    A line that was cut off, by a kill or a full disk, is left out. Of a span that was written twice, as
    by two processes that ended the same work, the first one stands.
    """
    try:
        text = (Path(folder) / f"{trace}{SUFFIX}").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    spans: dict[str, Span] = {}
    for line in text.split("\n"):  # not splitlines(): texts hold other line ends as they are
        try:
            found = list(otlp_json.spans_of(line)) if line else []
        except ValueError:
            continue
        for span in found:
            spans.setdefault(span.id, span)
    return list(spans.values())
