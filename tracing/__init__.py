"""What a run costs and how it is seen: spans, where they go, and how they are drawn.

The lowest folder: it knows neither runs nor messages, only spans with attributes, and imports none of the
others. `span.py` says what a span is; `names.py` what its attributes are called.
"""

from .file import FileSink
from .metrics import MetricsSink
from .sdk import OtlpSink, ProviderSink
from .settings import Tracing
from .usage import Usage

__all__ = ["FileSink", "MetricsSink", "OtlpSink", "ProviderSink", "Tracing", "Usage"]
