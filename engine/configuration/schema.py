"""A JSON Schema of `offing.yaml`, for editors that complete and check it while it is written."""

from pydantic import JsonValue, TypeAdapter

from .settings import Settings
from .systems import kinds

_ANY = TypeAdapter[dict[str, JsonValue]](dict[str, JsonValue])


def schema() -> dict[str, JsonValue]:
    """The schema: that of the settings, each namespace by its kind."""
    whole = _ANY.validate_python(Settings.model_json_schema())
    definitions = whole.setdefault("$defs", {})
    names: dict[str, JsonValue] = {}
    anyone: list[JsonValue] = []
    for name, kind in kinds().items():
        shape = _ANY.validate_python(kind.settings.model_json_schema(ref_template="#/$defs/{model}"))
        inner = shape.pop("$defs", {})
        if isinstance(definitions, dict) and isinstance(inner, dict):
            definitions.update({**inner, f"kind-{name}": shape})
        reference: JsonValue = {"$ref": f"#/$defs/kind-{name}"}
        names[name] = {"anyOf": [reference, {"type": "null"}], "description": kind.title}
        said: JsonValue = {"properties": {"kind": {"const": name}}, "required": ["kind"]}
        anyone.append({"allOf": [reference, said]})
    properties = whole["properties"]
    if isinstance(properties, dict):
        properties["namespaces"] = {
            "type": "object",
            "description": "The connected systems by their names.",
            "properties": names,
            "additionalProperties": {"anyOf": anyone},
        }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
