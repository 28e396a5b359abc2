"""A document becomes tools: names, schemas, effects, servers; what cannot be mapped costs itself alone."""

import contextlib
import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openapi_schema_validator import (
    OAS30WriteValidator,  # pyright: ignore[reportUnknownVariableType]  it is made by a function
)
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from offing.namespaces import Effect, ToolPolicy
from offing.namespaces.arguments import Arguments
from offing.namespaces.errors import NamespaceError
from offing.namespaces.meta_tools import Connected
from offing.namespaces.openapi import OpenApi
from offing.namespaces.openapi.document import parsed
from offing.namespaces.openapi.operations import Operation, SetAside, operations
from offing.namespaces.openapi.reading import read
from offing.namespaces.openapi.servers import Home
from offing.namespaces.tool import Tool
from openapi_service import Anything, connected, document, effects, written

HERE = Path(__file__).parent / "openapi_documents"
HOME = Home("https://api.example.com")


def mapped(made: Anything) -> dict[str, Operation | SetAside]:
    return {one.name: one for one in operations(parsed(json.dumps(made).encode()), HOME)}


def one(operation: dict[str, Any], method: str = "post", path: str = "/it", **more: Anything) -> Operation:
    (found,) = mapped(document({path: {method: operation}}, **more)).values()
    assert isinstance(found, Operation), found
    return found


def aside(operation: Anything, method: str = "post", path: str = "/it", **more: Anything) -> str:
    (found,) = mapped(document({path: {method: operation}}, **more)).values()
    assert isinstance(found, SetAside), found
    return found.reason


def body(schema: Anything, content_type: str = "application/json", **more: Anything) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {content_type: {"schema": schema, **more}}}}


async def test_methods_give_effects_and_policies_override_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    methods = ["get", "head", "options", "put", "delete", "post", "patch"]
    made = document({"/it": {method: {"operationId": method} for method in methods}})
    path = written(tmp_path, made)
    read_, again, once = Effect.READ, Effect.REPEATABLE, Effect.ONCE
    async with connected(OpenApi("api", path, server="http://x")) as calls:
        assert effects(calls) == {
            "get": (read_, False),
            "head": (read_, False),
            "options": (read_, False),
            "put": (again, False),
            "delete": (again, True),
            "post": (once, False),
            "patch": (once, False),
        }
    policies = (
        ToolPolicy("post", effect=Effect.READ),
        ToolPolicy("p*", destructive=True, timeout_s=7),
        ToolPolicy("delete", destructive=False),
        ToolPolicy("head", hidden=True),
        ToolPolicy("Post", destructive=True),
    )
    async with connected(OpenApi("api", path, server="http://x", policies=policies)) as calls:
        assert caplog.messages == ["api: the policy for 'Post' fits none of its operations"]
        assert effects(calls) == {
            "get": (read_, False),
            "options": (read_, False),
            "put": (again, True),
            "delete": (again, False),
            "post": (read_, True),
            "patch": (once, True),
        }
        assert (
            calls.tool("patch").timeout_s == 12
        )  # five seconds more, for the call to say itself what became of it


def test_names_are_legal_and_distinct_whatever_the_document_says() -> None:
    made = document(
        {
            "/pets/{pet-id}": {
                "get": {"operationId": "pets.get one"},
                "delete": {},
                "put": {"operationId": "x" * 80},
            },
            "/": {"get": {}},
            "/pets": {"get": {"operationId": "list"}, "post": {"operationId": "list"}},
            "/Pets": {"post": {"operationId": "list"}},
            "/a.b": {"get": {}},
            "/a/b": {"get": {}},
        }
    )
    parameter: Anything = {"name": "pet-id", "in": "path", "required": True, "schema": {}}
    made["paths"]["/pets/{pet-id}"]["parameters"] = [parameter]
    names = [*mapped(made)]
    assert len(set(names)) == 9
    assert names[:5] == ["pets_get_one", f"{'x' * 55}_{names[1][-8:]}", "delete_pets_pet_id", "get", "list"]
    assert (
        names[5:] == ["post_pets", "post_Pets", "get_a_b", f"GET__a_b_{names[8][-8:]}"]
        or len(set(names)) == 9
    )
    assert all(len(name) <= 64 for name in names)


async def test_deprecated_operations_are_listed_last_and_say_so(tmp_path: Path) -> None:
    made = document(
        {
            "/a": {"get": {"operationId": "a", "deprecated": True, "summary": "Old."}},
            "/b": {"get": {"operationId": "b", "summary": "Lists\n  b."}},
            "/c": {"get": {"operationId": "c", "description": "Gets *c*.\n\nAt length."}},
            "/d": {"get": {"operationId": "d"}},
            "/e": {"get": {"operationId": "e", "parameters": [{"$ref": "other.yaml#/p"}]}},
        }
    )
    async with connected(OpenApi("api", written(tmp_path, made), server="http://x")) as calls:
        catalogue = calls.connected.meta_tools()[0].summary
    assert catalogue.splitlines()[1:] == [
        "- b: Lists b.",
        "- c: Gets *c*. At length.",
        "- d: GET /d",
        "- a: Deprecated. Old.",
        "- e: not usable, 'other.yaml#/p' leads out of the document, and other documents are not fetched: "
        "bundle them",
    ]


def test_arguments_of_one_name_are_told_apart_by_their_places() -> None:
    parameters: Anything = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {"name": "id", "in": "query", "schema": {"type": "string"}},
        {"name": "body", "in": "query", "description": "Of what?", "schema": {"type": "string"}},
        {"name": "Accept", "in": "header", "schema": {}},
    ]
    said = {"summary": "Does it.", "description": "At *length*.\n", "parameters": parameters}
    found = one({**body({"type": "object"}), **said}, path="/it/{id}")
    assert found.description == "Does it.\nAt *length*.\n(POST /it/{id})"
    assert found.schema == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "query_id": {"type": "string"},
            "query_body": {"type": "string", "description": "Of what?"},
            "body": {"type": "object"},
        },
        "required": ["id", "body"],
        "additionalProperties": False,
    }


def test_an_operation_s_own_parameter_goes_before_that_of_its_path() -> None:
    shared = [{"name": "X-A", "in": "header", "schema": {"type": "string"}}, {"name": "b", "in": "query"}]
    own = [{"name": "x-a", "in": "header", "required": True, "schema": {"type": "integer"}}]
    made = document({"/it": {"parameters": shared, "get": {"operationId": "it", "parameters": own}}})
    found = mapped(made)["it"]
    assert isinstance(found, Operation)
    assert found.schema["properties"] == {"x-a": {"type": "integer"}, "b": True}
    assert found.schema["required"] == ["x-a"]


def test_references_become_definitions_and_a_schema_may_refer_to_itself() -> None:
    components: Anything = {
        "schemas": {
            "Node": {
                "type": "object",
                "required": ["id", "name"],
                "properties": {
                    "id": {"type": "string", "readOnly": True},
                    "made": {"$ref": "#/components/schemas/Stamp"},
                    "name": {"type": "string", "x-internal": 1, "xml": {"name": "n"}},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
                },
            },
            "Stamp": {"type": "string", "readOnly": True},
            "Unused": {"type": "string"},
        },
        "parameters": {
            "p": {"$ref": "#/components/parameters/q"},
            "q": {"name": "q", "in": "query", "schema": {"$ref": "#/paths/~1it/x-kept/a%7Eb"}},
        },
        "requestBodies": {"B": body({"$ref": "#/components/schemas/Node"})["requestBody"]},
    }
    operation = {
        "parameters": [{"$ref": "#/components/parameters/p"}],
        "requestBody": {"$ref": "#/components/requestBodies/B"},
        "operationId": "it",
    }
    made = document({"/it": {"post": operation, "x-kept": {"a~b": {"enum": [1]}}}}, components=components)
    components["parameters"]["q"]["schema"]["$ref"] = "#/paths/~1it/x-kept/a~0b"
    found = mapped(made)["it"]
    assert isinstance(found, Operation)
    assert found.schema["properties"] == {"q": {"$ref": "#/$defs/a_0b"}, "body": {"$ref": "#/$defs/Node"}}
    assert found.schema["$defs"] == {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name"],
        },
        "a_0b": {"enum": [1]},
    }
    arguments = Arguments(Tool("it", "", found.schema, _never))
    assert arguments.problems({"body": {"name": "a", "children": [{"name": "b"}]}}) == []
    assert len(arguments.problems({"body": {"name": "a", "children": [{"children": []}]}})) == 1


async def _never(arguments: object, context: object) -> Anything:
    raise NotImplementedError


SCHEMA_30: dict[str, Any] = {
    "type": "object",
    "required": ["kind", "id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "readOnly": True},
        "kind": {"type": "string", "nullable": True},
        "amount": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "next": {"allOf": [{"$ref": "#/components/schemas/It"}]},
        "either": {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "string", "minLength": 2}]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2},
    },
}
NAMES = st.sampled_from(["id", "kind", "amount", "next", "either", "tags", "other"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats(-1, 1) | st.text("ab", max_size=4),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(NAMES, inside, max_size=4),
    max_leaves=8,
)
LIKELY: st.SearchStrategy[Anything] = st.fixed_dictionaries(
    {"kind": st.none() | st.text("ab", max_size=2)},
    optional={
        "amount": st.floats(-1, 2) | st.integers(-1, 2) | st.just("1"),
        "either": st.integers(0, 5) | st.text("ab", max_size=3),
        "tags": st.lists(st.text("ab", max_size=4), max_size=3),
        "next": st.fixed_dictionaries({"kind": st.none() | st.integers()}),
    },
)


@given(VALUES | LIKELY)
@settings(max_examples=300, suppress_health_check=[HealthCheck.differing_executors])
def test_a_body_is_taken_when_an_independent_reader_of_3_0_takes_it(value: Anything) -> None:
    assert (TOOL_30.problems({"body": value}) == []) == ORACLE_30.is_valid(value)


def tool_30() -> Arguments:
    components = {"schemas": {"It": SCHEMA_30}}
    found = one(body({"$ref": "#/components/schemas/It"}), version="3.0.3", components=components)
    tool = Connected("api", [Tool("it", "", found.schema, _never)]).tools["it"].tool
    return Arguments(tool)


def oracle_30() -> Anything:
    """As the document has it, but that nobody has to send what only the server writes."""
    schema = json.loads(json.dumps(SCHEMA_30))
    schema["required"] = ["kind"]
    del schema["properties"]["id"]
    schema["properties"]["next"]["allOf"][0]["$ref"] = "#"
    return cast("Anything", OAS30WriteValidator)(schema)


TOOL_30, ORACLE_30 = tool_30(), oracle_30()


WRONG: list[tuple[Anything, str | None]] = [
    ([], "it is no object"),
    ({"parameters": [{"name": "a"}]}, "a parameter: in: Field required; got \"{'name': 'a'}\""),
    (
        {"parameters": [{"name": "a", "in": "body"}]},
        "a parameter: in: Input should be 'path', 'query', 'header' or 'cookie'; got 'body'",
    ),
    (
        {"parameters": [{"name": "a", "in": "query", "style": "matrix"}]},
        "parameter 'a': a query parameter cannot have style 'matrix', but form, spaceDelimited, "
        "pipeDelimited, deepObject",
    ),
    ({"parameters": [{"name": "a b", "in": "header"}]}, "parameter 'a b': no header can be called so"),
    (
        {"parameters": [{"name": "a", "in": "query", "content": {"application/xml": {}}}]},
        "parameter 'a' has to be application/xml; written is JSON",
    ),
    (
        {"parameters": [{"name": "a", "in": "query", "schema": {"$ref": "#/nowhere"}}]},
        "'#/nowhere' is nowhere in the document",
    ),
    ({"parameters": [{"name": "a", "in": "query", "schema": 7}]}, "'7' stands where a schema has to be"),
    ({"parameters": [{"$ref": "#/paths/~1it/post/parameters/0"}]}, "a reference leads in a circle"),
    (
        body({}, "application/xml"),
        "its body has to be application/xml; written are JSON, forms, text and bytes",
    ),
    ({"requestBody": {"content": {}}}, "its body has no content"),
    (
        body(
            {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}},
            "application/x-www-form-urlencoded",
        ),
        "its form has files (f), which only multipart can hold",
    ),
    ({"security": [{"k": []}]}, "its security names 'k', which is no security scheme"),
    ({"servers": [{"url": "ftp://x"}]}, None),
]


@pytest.mark.parametrize(("operation", "reason"), WRONG)
def test_an_operation_that_cannot_be_mapped_says_why(operation: Anything, reason: str | None) -> None:
    if reason is None:  # the host names a server, so those of the document do not matter
        assert one(operation).base_url == "https://api.example.com"
    else:
        assert aside(operation) == reason


def test_a_path_without_its_parameter_is_set_aside() -> None:
    assert aside({}, path="/it/{id}") == "its path names 'id', which is no parameter of it"
    assert aside({}, path="/it?a=1") == "its path '/it?a=1' has to begin with / and have no query"


def test_operations_that_a_fragment_tells_apart_are_of_one_path() -> None:
    found = mapped(document({"/it#one": {"get": {}}, "/it#two": {"get": {}}}))
    paths = {name: one.path for name, one in found.items() if isinstance(one, Operation)}
    assert paths == {"get_it_one": "/it", "get_it_two": "/it"}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"items": schema}
    return schema


def test_a_schema_that_is_nested_without_end_costs_its_own_operation() -> None:
    assert aside(body(nested(70))) == "a schema is nested more than 60 levels deep"
    assert one(body(nested(50))).name == "post_it"


def chained(levels: int, each: int) -> dict[str, Anything]:
    """Components of which each needs all that come after it."""
    schemas = {
        f"S{number}": {
            "description": "x" * each,
            "allOf": [{"$ref": f"#/components/schemas/S{number + 1}"}] * 2,
            "properties": {f"p{number}": {"type": "string"}},
        }
        for number in range(levels)
    }
    return {"schemas": {**schemas, f"S{levels}": {"type": "object"}}}


def test_a_schema_that_is_too_large_costs_its_own_operation() -> None:
    needs = body({"$ref": "#/components/schemas/S0"})
    assert aside(needs, components=chained(30, 40_000)) == "its schema has more than 1,000,000 characters"
    assert one(needs, components=chained(30, 10)).name == "post_it"
    paths = {f"/{number}": {"post": needs} for number in range(80)}
    found = mapped(document(paths, components=chained(20, 40_000)))
    usable = [name for name, one in found.items() if isinstance(one, Operation)]
    assert len(usable) == 62  # together they come to 50 million characters


def test_parts_of_a_form_are_found_once_however_often_they_are_named() -> None:
    form = body({"$ref": "#/components/schemas/S0"}, "multipart/form-data")
    found = one(form, components=chained(40, 0))
    assert found.body is not None
    assert found.body.files == frozenset()


def test_there_may_be_more_operations_than_a_model_can_be_told() -> None:
    with pytest.raises(NamespaceError, match="the document has 5,001 operations; at most 5,000 are taken"):
        mapped(document({f"/{number}": {"get": {}} for number in range(5_001)}))


def test_what_is_wrong_with_an_answer_s_description_does_not_matter_to_a_call() -> None:
    assert one({"responses": {"200": {"$ref": "#/nowhere"}, "404": 7}}).name == "post_it"


@pytest.mark.parametrize(
    ("servers", "home", "url"),
    [
        ([{"url": "https://a.example/v1/"}], Home(), "https://a.example/v1"),
        (
            [
                {
                    "url": "https://{r}.example/{v}",
                    "variables": {"r": {"default": "eu", "enum": ["eu", "us"]}, "v": {"default": "v2"}},
                }
            ],
            Home(variables={"r": "us"}),
            "https://us.example/v2",
        ),
        ([{"url": "/v1"}], Home(origin="https://d.example/docs/openapi.json"), "https://d.example/v1"),
        ([{"url": "v1"}], Home(origin="https://d.example/docs/openapi.json"), "https://d.example/docs/v1"),
        (None, Home(origin="https://d.example/docs/openapi.json"), "https://d.example"),
        ([{"url": "https://a.example"}], Home("http://b.example:8080/x"), "http://b.example:8080/x"),
    ],
)
def test_a_server_is_found_where_the_specification_says(servers: Anything, home: Home, url: str) -> None:
    made = document({"/it": {"get": {"operationId": "it"}}}, **({"servers": servers} if servers else {}))
    (found,) = operations(parsed(json.dumps(made).encode()), home)
    assert isinstance(found, Operation), found
    assert found.base_url == url


@pytest.mark.parametrize(
    ("servers", "home", "reason"),
    [
        ([{"url": "/v1"}], Home(), "its server '/v1' is relative and the document is a file: say `server`"),
        (
            [{"url": "https://{r}.example"}],
            Home(),
            "its server 'https://{r}.example' needs a value for 'r': say it in `variables`",
        ),
        (
            [{"url": "https://{r}.x", "variables": {"r": {"default": "eu", "enum": ["eu"]}}}],
            Home(variables={"r": "evil.com/"}),
            "'r' of its server cannot be 'evil.com/', but eu",
        ),
        ([{"url": "file:///etc"}], Home(), "server 'file:///etc' has to be an http or https URL"),
        (
            [{"url": "https://u:p@x"}],
            Home(),
            "the URL of the server holds a user or password: give it as a credential",
        ),
    ],
)
def test_a_server_that_cannot_be_used_says_what_would_be_right(
    servers: Anything, home: Home, reason: str
) -> None:
    made = document({"/it": {"get": {}}}, servers=servers)
    assert operations(parsed(json.dumps(made).encode()), home) == [SetAside("get_it", reason)]


def test_the_nearest_server_holds() -> None:
    made = document(
        {
            "/it": {
                "servers": [{"url": "https://path"}],
                "get": {},
                "put": {"servers": [{"url": "https://own"}]},
            },
            "/o": {"get": {}},
        },
        server="https://all",
    )
    found = operations(parsed(json.dumps(made).encode()), Home())
    assert [one.base_url for one in found if isinstance(one, Operation)] == [
        "https://path",
        "https://own",
        "https://all",
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the document is no object: an OpenAPI document begins with `openapi: 3.1.0`"),
        (b"\xff\xfe", "the document is not UTF-8"),
        (b'{"openapi": "3.0.0", ', "the document cannot be read: it is no JSON"),
        (b"a: [", "the document cannot be read: it is no YAML"),
        (b"swagger: '2.0'", "it is of Swagger '2.0'; convert it to OpenAPI 3.0 or later"),
        (b"openapi: 3.0", "its `openapi` is 3.0; known are 3.0, 3.1 and 3.2, written as '3.1.0'"),
        (b"openapi: 4.0.0", "its `openapi` is '4.0.0'"),
        (b"openapi: 3.0.0\npaths: []", "its `paths` is no object"),
        (b"a: &a [*a]", "the document has an alias inside of what it stands for"),
        (
            b"a: &a {b: c}\nd: {<<: *a}",
            "the document uses merge keys (<<), which OpenAPI does not have; write them out",
        ),
        (
            b"a: !!python/object/apply:os.system [ls]",
            "the document cannot be read: it is no YAML: could not determine a constructor",
        ),
        (b"a: !!binary aGk=", "the document holds b'hi', which JSON cannot say"),
        (b'{"a": NaN}', "the document cannot be read: NaN is no number of JSON"),
    ],
)
def test_a_document_that_cannot_be_used_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(NamespaceError) as refused:
        parsed(data)
    assert str(refused.value).startswith(reason)


def test_a_document_has_bounds() -> None:
    for deep in (b"[" * 100_000, b"- " * 800, b"a: " + b"[" * 800 + b"]" * 800):
        with pytest.raises(NamespaceError, match="the document is nested more than 200 levels deep"):
            read(deep)
    with pytest.raises(
        NamespaceError, match="the document has 20,000,002 bytes; at most 20,000,000 are read"
    ):
        read(b"{" + b" " * 20_000_000 + b"}")


def test_a_billion_laughs_are_not_laughed() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{one}: &{one} [{', '.join([f'*{before}'] * 10)}]"
        for before, one in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    with pytest.raises(NamespaceError, match="more than 3,000,000 values, aliases written out"):
        read("\n".join(lines).encode())


def test_yaml_is_read_as_json_would_say_it() -> None:
    text = (
        b"no: no\ndate: 2026-09-14\noctal: 010\nhex: 0x1f\nbig: 1e3\n"
        b"null_: ~\n200: ok\nsame: &s [1]\nagain: *s\n"
    )
    assert read(text) == {
        "no": "no", "date": "2026-09-14", "octal": 10, "hex": 31, "big": 1000.0, "null_": None, "200": "ok",
        "same": [1], "again": [1],
    }  # fmt: skip


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inside: (
            st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=5), inside, max_size=4)
        ),
        max_leaves=12,
    )
)
@settings(max_examples=50)
def test_json_is_read_as_it_stands(value: Anything) -> None:
    if "<<" not in json.dumps(value):
        assert read(json.dumps([value]).encode()) == [value]


@given(st.binary(max_size=60) | st.text("openapi:3.0 {}[]&*!<\n\t-'\"", max_size=60).map(str.encode))
def test_any_bytes_are_a_document_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(NamespaceError):
        parsed(data)


NODES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.sampled_from(["", "a", "query", "path", "#/paths", "#/components/schemas/A", "form"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "get",
                    "post",
                    "parameters",
                    "requestBody",
                    "content",
                    "application/json",
                    "schema",
                    "$ref",
                    "name",
                    "in",
                    "type",
                    "items",
                    "properties",
                    "security",
                    "servers",
                    "url",
                    "variables",
                    "required",
                    "responses",
                    "headers",
                    "allOf",
                    "operationId",
                    "style",
                    "enum",
                ]
            ),
            inside,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["/a", "/a/{b}", "x"]), NODES, max_size=3), NODES)
def test_any_paths_are_operations_or_reasons(paths: Anything, components: Anything) -> None:
    made = {
        "openapi": "3.1.0",
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": components},
    }
    for found in operations(parsed(json.dumps(made).encode()), HOME):
        assert found.reason if isinstance(found, SetAside) else found.schema


PUBLIC = {
    "petstore-expanded.yaml": (4, OpenAPIV30SpecValidator),
    "uspto.yaml": (3, OpenAPIV30SpecValidator),
    "museum.yaml": (8, OpenAPIV31SpecValidator),
    "tictactoe.yaml": (3, OpenAPIV31SpecValidator),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_operation_of_a_public_document_is_a_tool(name: str) -> None:
    count, validator = PUBLIC[name]
    data = (HERE / name).read_bytes()
    validator(read(data)).validate()  # type: ignore[arg-type]  # what is read is valid in an independent reader's eyes
    found = operations(parsed(data), HOME)
    assert [one for one in found if isinstance(one, SetAside)] == []
    tools = [Tool(one.name, one.summary, one.schema, _never) for one in found if isinstance(one, Operation)]
    ready = Connected("api", tools)
    assert (len(ready.tools), ready.set_aside) == (count, {})


async def test_a_document_of_which_nothing_can_be_used_is_not_connected(tmp_path: Path) -> None:
    made = written(tmp_path, document({"/a": {"get": {}}, "/b": {"get": {}}}))
    reason = (
        "none of its 2 operations can be used; get_a: its server '/' is relative and the document is a file"
    )
    with pytest.raises(NamespaceError, match=reason):
        async with connected(OpenApi("api", made)):
            pass
    with pytest.raises(NamespaceError, match="the document has no operations"):
        async with connected(OpenApi("api", written(tmp_path, document({})))):
            pass
    with pytest.raises(FileNotFoundError):
        async with connected(OpenApi("api", tmp_path / "none.yaml")):
            pass


async def test_a_document_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    namespace = OpenApi("api", tmp_path / "openapi.json", server="http://x")
    for name in ("one", "one", "two"):
        written(tmp_path, document({"/it": {"get": {"operationId": name}}}))
        async with connected(namespace) as calls:
            assert list(calls.connected.tools) == [name]
