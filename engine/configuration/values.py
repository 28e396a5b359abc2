"""Values of the file that come from elsewhere: parts of texts, and secrets.

A secret is never written in the file. It is named there, as `${NAME}` in a text, `{env: NAME}` or
`{file: PATH}`, and looked up when it is needed, so that neither an error nor the journal can show it.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    JsonValue,
    SecretStr,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Missing(ValueError):
    """A variable of the environment, or a file with a secret, that is not there."""


class Shape(BaseModel):
    """What all parts of the file have in common: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def filled(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with each `${NAME}` replaced by the variable of that name; `$${` stands for `${`.

    Raises:
        Missing: a variable is not set.
    """
    given = os.environ if environment is None else environment

    def value(found: re.Match[str]) -> str:
        escaped, name = found.groups()
        if escaped:
            return f"${{{name}}}"
        if name not in given:
            raise Missing(
                f"the environment variable {name} is not set; write $${{{name}}} for the text itself"
            )
        return given[name]

    return _VARIABLE.sub(value, text)


Text = Annotated[str, AfterValidator(filled)]
"""A text in which `${NAME}` stands for a variable of the environment."""


class Secret(Shape):
    """Where a secret is: in a variable of the environment, or in a file."""

    text: str = ""
    """With at least one `${NAME}` in it: the short form, as in `Bearer ${TOKEN}`."""
    env: str = ""
    """Name of a variable."""
    file: str = ""
    """A file that has it, and nothing else."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: JsonValue) -> JsonValue:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _named(self) -> "Secret":
        if sum(map(bool, (self.text, self.env, self.file))) != 1 or (
            self.text and not any(not escaped for escaped, _ in _VARIABLE.findall(self.text))
        ):
            raise ValueError("a secret is not written here: name it, as {env: NAME}, {file: PATH} or ${NAME}")
        return self

    def value(self, folder: Path) -> SecretStr:
        """The secret; `folder` is what a relative path begins in.

        Raises:
            Missing: it is not there.
        """
        if self.text:
            return SecretStr(filled(self.text))
        if self.env:
            if self.env not in os.environ:
                raise Missing(f"the environment variable {self.env} is not set")
            return SecretStr(os.environ[self.env])
        try:
            return SecretStr((folder / self.file).read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is no text"
            raise Missing(f"the file {self.file!r} cannot be read: {why}") from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Its three forms, for editors."""
        name: JsonSchemaValue = {"type": "string"}
        forms = [
            {"type": "object", "properties": {form: name}, "required": [form], "additionalProperties": False}
            for form in ("env", "file")
        ]
        return {"anyOf": [{"type": "string", "pattern": r"\$\{[A-Za-z_]\w*\}"}, *forms]}
