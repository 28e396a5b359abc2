"""What a tool produced, as the model will read it: the one place where output becomes a result.

Everything is capped, errors too; what is left out of the context, or had to be scrubbed, is kept as an
artifact byte for byte and can be read back by its handle.
"""

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from ..compaction.conversation import Media, ToolResult
from ..namespaces.tool import Attachment, Record, ToolOutput
from .errors import StoreError
from .limits import Limits
from .prompts import prompt
from .redact import Redactor
from .scrub import scrub, scrub_fields
from .store.codec import unrecordable
from .store.facts import Settled, Stored
from .store.journal import Artifacts
from .work import told as error_text

SHOWN_AS_MEDIA = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})
"""What models can look at."""
_TAIL = 1_000
"""Characters from the end of a long output that are shown beside its beginning."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Which call an output came from."""

    call: str
    operation: str
    record_namespaces: frozenset[str]
    """Prefixes that records may have beside `namespace`."""
    namespace: str
    """That of the tool; empty for a resident one."""
    redact: Redactor = field(default_factory=Redactor)
    """Takes the namespace's credentials out of what its tools say."""


async def settled(output: ToolOutput, origin: Origin, artifacts: Artifacts, limits: Limits) -> Settled:
    """The fact of a call's outcome. Stores what does not fit into the context.

    Raises:
        StoreError: an artifact could not be stored. An output that cannot be recorded does not raise:
            the call's result says so.
    """
    try:
        fact = await _settled(output, origin, artifacts, limits)
        problem = unrecordable(fact)
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001  a tool may put anything into its output
        problem = error_text(error)
    else:
        if not problem:
            return fact
    told = origin.redact(f"The call ran, but its output cannot be recorded: {problem[:1000]}")
    return Settled(ToolResult(origin.call, scrub(told), error=True), origin.operation)


async def _settled(output: ToolOutput, origin: Origin, artifacts: Artifacts, limits: Limits) -> Settled:
    text = origin.redact(_text(output.content))
    kept: list[Stored] = []
    media: list[Media] = []
    shown, handle = text, None
    if len(text) > limits.result_chars or scrub(text) != text:
        handle = f"result/{origin.call}"
        data = text.encode("utf-8", "surrogatepass")
        kept.append(Stored(handle, await artifacts.put(data), len(data), "text/plain"))
        shown = _shortened(text, handle, limits.result_chars)
    for attachment in distinct(output.attachments):
        stored = await _store(attachment, origin.call, artifacts)
        kept.append(stored)
        media.extend(shown_media(attachment, limits))
        shown += f"\n[{stored.handle}: {stored.mime}, {stored.size} bytes]"
    content = shown if shown.strip() else "(no output)"
    result = ToolResult(origin.call, content, output.error, tuple(media), handle)
    return Settled(result, origin.operation, _owned(output.records, origin), tuple(kept))


def _text(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)


def _shortened(text: str, handle: str, limit: int) -> str:
    if len(text) <= limit:
        return scrub(text)
    room = max(0, limit - _TAIL)
    head, tail = text[:room], text[len(text) - min(_TAIL, limit) :]
    left = len(text) - len(head) - len(tail)
    return prompt(
        "result_capped",
        head=scrub(head),
        tail=scrub(tail),
        left=f"{left:,}",
        total=f"{len(text):,}",
        handle=handle,
    )


async def _store(attachment: Attachment, call: str, artifacts: Artifacts) -> Stored:
    ref = await artifacts.put(attachment.data)
    return Stored(f"result/{call}/{attachment.name}", ref, len(attachment.data), attachment.mime)


def distinct(attachments: Sequence[Attachment], taken: Iterable[str] = ()) -> list[Attachment]:
    """The same attachments under names that can be part of a handle and are not taken."""
    used = set(taken)
    named: list[Attachment] = []
    for one in attachments:
        plain = name = scrub(one.name).replace("/", "_") or "file"
        number = 1
        while name in used:
            number += 1
            name = f"{number}-{plain}"
        used.add(name)
        named.append(replace(one, name=name))
    return named


def shown_media(attachment: Attachment, limits: Limits) -> Sequence[Media]:
    """The attachment as the model can look at it; nothing when it cannot, or it is too large."""
    if attachment.mime not in SHOWN_AS_MEDIA or len(attachment.data) > limits.media_bytes:
        return ()
    encoded = base64.b64encode(attachment.data).decode("ascii")
    return (Media(attachment.mime, encoded, scrub(attachment.name)),)


def _owned(records: Sequence[Record], origin: Origin) -> tuple[Record, ...]:
    """Each namespace registers records under its own name: none can pass for another's."""
    return tuple(scrub_fields(_prefixed(record, origin)) for record in records)


def _prefixed(record: Record, origin: Origin) -> Record:
    prefix = record.id.partition(":")[0]
    record = replace(record, text=origin.redact(record.text))
    if not origin.namespace or prefix == origin.namespace or prefix in origin.record_namespaces:
        return record
    return replace(record, id=f"{origin.namespace}:{record.id}")
