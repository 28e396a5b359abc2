"""How work is done well: the documents that say so, and the workflow skills made of them."""

from .catalogue import Catalogue, SkillSettings, catalogue_of
from .document import Document, read_document, validate
from .errors import DocumentError, ResourceError, SettingsError, SkillError
from .folders import SHIPPED, Finding, SkillFolders
from .skill import Override, Skill, skill_of
from .structure import Structure, structure_in
from .written import Written, read_skill

__all__ = [
    "SHIPPED",
    "Catalogue",
    "Document",
    "DocumentError",
    "Finding",
    "Override",
    "ResourceError",
    "SettingsError",
    "Skill",
    "SkillError",
    "SkillFolders",
    "SkillSettings",
    "Structure",
    "Written",
    "catalogue_of",
    "read_document",
    "read_skill",
    "skill_of",
    "structure_in",
    "validate",
]
