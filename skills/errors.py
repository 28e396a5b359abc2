"""The errors of this folder.

SkillError
├── DocumentError    a SKILL.md that cannot be used: names the file and says what would be right
├── ResourceError    a resource that a skill does not have, or that cannot be read: told to the model
└── SettingsError    settings that do not fit the skills there are: told to the host
"""


class SkillError(Exception):
    """Base of the errors of this folder."""


class DocumentError(SkillError):
    """A SKILL.md that cannot be read; names the file and says what would be right."""


class ResourceError(SkillError):
    """A resource that is not there or cannot be read; names it and says what would be right."""


class SettingsError(SkillError):
    """A setting that cannot work; names the value and says what would be right."""
