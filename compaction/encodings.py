"""An encoding to count tokens with, found offline.

litellm ships the files of o200k and cl100k; they are read from its folder without importing it (WIRE.md,
section 7). Loading one takes half a second to a second and a half, so it is done at the first pass, in a
thread, and never on import. Where it is not there, `estimate.coarse` stands in.
"""

import importlib.util
import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from hashlib import sha1
from pathlib import Path

from .estimate import Count

_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""What the file's name is a digest of; nothing is fetched from there."""
_FOLDER = "TIKTOKEN_CACHE_DIR"


@cache
def encoding() -> Count | None:
    """Counts the tokens of a text as o200k has them; None where its file is not there. It blocks.

    Safe in any thread. A text of a model's name for a special token is counted as the text it is.
    """
    folder = _folder()
    if folder is None:
        return None
    try:
        with _found_in(folder):
            from tiktoken import get_encoding

            encode = get_encoding("o200k_base").encode
    except Exception:  # noqa: BLE001  whatever is wrong with the file, there is the coarser way
        return None
    return lambda text: len(encode(text, disallowed_special=()))


def _folder() -> Path | None:
    """Where the file is, under the name by which tiktoken looks for it."""
    try:
        spec = importlib.util.find_spec("litellm")
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    name = sha1(_URL.encode(), usedforsecurity=False).hexdigest()
    return folder if (folder / name).is_file() else None


@contextmanager
def _found_in(folder: Path) -> Generator[None]:
    """Has tiktoken look into a folder, and leaves the host's own setting as it was."""
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before
