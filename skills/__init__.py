"""How work is done well: the documents that say so. Workflow skills are built on them."""

from .document import Document, DocumentError, read_document

__all__ = ["Document", "DocumentError", "read_document"]
