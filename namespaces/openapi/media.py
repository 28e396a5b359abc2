"""The words of HTTP that say what something is: media types and the names of headers."""

import re

_TEXTS = frozenset(
    {
        "application/graphql",
        "application/javascript",
        "application/toml",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_MAGIC = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
    "application/pdf": b"%PDF-",
}
"""How the files begin that a model is shown."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def is_token(name: str) -> bool:
    """Whether a header or a cookie can be called so (RFC 9110, section 5.6.2)."""
    return _TOKEN.fullmatch(name) is not None


def plain(content_type: str) -> str:
    """The type alone, without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def is_json(media: str) -> bool:
    """Whether a plain type is JSON."""
    return media in {"application/json", "text/json"} or media.endswith("+json")


def is_text(media: str) -> bool:
    """Whether a plain type is text of any kind, JSON too."""
    return media.startswith("text/") or media.endswith("+xml") or media in _TEXTS or is_json(media)


def honest(media: str, data: bytes) -> str:
    """The type, or that of plain bytes when they are not what it says.

    A provider refuses a whole request for an image that is none.
    """
    begins = _MAGIC.get(media)
    return media if media and (begins is None or data.startswith(begins)) else "application/octet-stream"


def charset(content_type: str) -> str:
    """The character set that a type names; UTF-8 when it names none."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return "utf-8"
