"""Files that a user attaches to a message: kept as artifacts, shown where a model can look at them."""

import mimetypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..compaction.conversation import Media, Message, Text
from ..namespaces.tool import Attachment
from .errors import ConfigurationError
from .limits import Limits
from .results import distinct, shown_media
from .scrub import scrub
from .store.facts import Stored
from .store.journal import Artifacts

_HANDLE = "file/"

File = str | Path | Attachment
"""A path, or bytes with a name."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message with its files."""

    message: Message
    files: tuple[Stored, ...]


async def receive(
    text: str, files: Sequence[File], artifacts: Artifacts, limits: Limits, taken: Iterable[str] = ()
) -> Received:
    """The user's message as it is journaled: the words verbatim, then what is attached.

    A handle of the session, which are the `taken` ones, is never given to another file.

    Raises:
        ConfigurationError: there are neither words nor files, or a file cannot be read.
        StoreError: a file cannot be stored.
    """
    if not text.strip() and not files:
        raise ConfigurationError(f"a message has to say something; got {text!r}")
    names = (handle.removeprefix(_HANDLE) for handle in taken)
    attachments = distinct([attachment_of(file) for file in files], names)
    stored: list[Stored] = []
    media: list[Media] = []
    for one in attachments:
        handle = f"{_HANDLE}{one.name}"
        stored.append(Stored(handle, await artifacts.put(one.data), len(one.data), one.mime))
        media.extend(shown_media(one, limits))
    words = (Text(scrub(text)),) if text.strip() else ()
    named = (Text(_listed(stored)),) if stored else ()
    return Received(Message("user", (*words, *named, *media)), tuple(stored))


def attachment_of(file: File) -> Attachment:
    """The file with its bytes.

    Raises:
        ConfigurationError: it cannot be read.
    """
    if isinstance(file, Attachment):
        return file
    path = Path(file)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot attach {str(file)!r}: {error.strerror}") from error
    mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Attachment(path.name, data, mime)


def _listed(files: Sequence[Stored]) -> str:
    lines = [f"- {file.handle}: {file.mime}, {file.size} bytes" for file in files]
    return "\n".join(["Attached files, to be read by these handles:", *lines])
