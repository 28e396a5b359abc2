"""Systems that describe themselves in an OpenAPI document, as namespaces."""

from .namespace import OpenApi

__all__ = ["OpenApi"]
