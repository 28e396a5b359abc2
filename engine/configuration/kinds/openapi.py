"""`kind: openapi`: a system that describes itself in an OpenAPI document."""

from pydantic import Field

from ....namespaces.openapi import OpenApi
from ....namespaces.tool import Namespace
from ..systems import BadSetting, Kind, Site, guide_of
from ..values import Text
from .policed import PolicedSettings


class OpenApiSettings(PolicedSettings):
    """The document, and what it leaves to say. Credentials are called as its security schemes are."""

    document: Text
    """Path of it, or its http or https URL."""
    server: Text = ""
    """Base URL of the system in place of those in the document."""
    variables: dict[str, Text] = Field(default_factory=dict[str, str])
    """Values of variables in the URL of the document's server."""
    idempotency: dict[str, str] = Field(default_factory=dict[str, str])
    """Header in which operations take an idempotency key, by pattern of their names."""
    max_bytes: int = 10_000_000
    """How much of a response is read."""


def _make(name: str, settings: OpenApiSettings, site: Site) -> Namespace:
    return OpenApi(
        name,
        _document(settings.document, site),
        guide=guide_of(settings.guide, site),
        server=settings.server,
        variables=settings.variables,
        policies=settings.policies,
        idempotency=settings.idempotency,
        timeout_s=settings.timeout_s,
        max_bytes=settings.max_bytes,
    )


def _document(written: str, site: Site) -> str:
    if written.startswith(("http://", "https://")):
        return written
    place = site.folder / written
    if not place.is_file():
        raise BadSetting(f"there is no file {str(place)!r}", "document")
    return str(place)


KIND = Kind(OpenApiSettings, _make, "a system with an OpenAPI document of version 3")
