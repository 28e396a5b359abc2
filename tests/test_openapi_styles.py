"""Each way to write a parameter, as the specification's own examples have it, read off the wire.

The table is OpenAPI 3.1.1, "Style Examples"; what the specification leaves open is told apart below it.
"""

from pathlib import Path
from typing import Any

import pytest

from offing.namespaces.openapi import OpenApi
from openapi_service import Anything, Service, connected, document, written

EMPTY = ""
STRING = "blue"
ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}

PATH = [
    ("matrix", False, STRING, ";color=blue"),
    ("matrix", False, EMPTY, ";color"),
    ("matrix", False, ARRAY, ";color=blue,black,brown"),
    ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
    ("matrix", True, STRING, ";color=blue"),
    ("matrix", True, EMPTY, ";color"),
    ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
    ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
    ("label", False, STRING, ".blue"),
    ("label", False, ARRAY, ".blue,black,brown"),
    ("label", False, OBJECT, ".R,100,G,200,B,150"),
    ("label", True, STRING, ".blue"),
    ("label", True, ARRAY, ".blue.black.brown"),
    ("label", True, OBJECT, ".R=100.G=200.B=150"),
    ("simple", False, STRING, "blue"),
    ("simple", False, ARRAY, "blue,black,brown"),
    ("simple", False, OBJECT, "R,100,G,200,B,150"),
    ("simple", True, STRING, "blue"),
    ("simple", True, ARRAY, "blue,black,brown"),
    ("simple", True, OBJECT, "R=100,G=200,B=150"),
]
QUERY = [
    ("form", False, EMPTY, "color="),
    ("form", False, STRING, "color=blue"),
    ("form", False, ARRAY, "color=blue,black,brown"),
    ("form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("form", True, EMPTY, "color="),
    ("form", True, STRING, "color=blue"),
    ("form", True, ARRAY, "color=blue&color=black&color=brown"),
    ("form", True, OBJECT, "R=100&G=200&B=150"),
    ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
    ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
]
UNTOLD: list[tuple[dict[str, Any], Any, str]] = [
    ({}, ARRAY, "?color=blue&color=black&color=brown"),  # the defaults of a query: form, exploded
    ({"style": "spaceDelimited"}, ARRAY, "?color=blue%20black%20brown"),  # and of other styles: not exploded
    ({}, "a b&c=d/ä?#[]+%", "?color=a%20b%26c%3Dd%2F%C3%A4%3F%23%5B%5D%2B%25"),
    ({"allowReserved": True}, "a b/c:d?e=f,g@h", "?color=a%20b/c:d?e=f,g@h"),
    ({"allowReserved": True}, "a&b#c+d[e]%2F%", "?color=a%26b%23c%2Bd%5Be%5D%2F%25"),
    ({"explode": False}, ["a,b", "c"], "?color=a%2Cb,c"),
    ({}, [], ""),
    ({}, {}, ""),
    ({}, None, ""),
    ({}, True, "?color=true"),
    ({}, 10.0, "?color=10"),
    ({}, 0.1, "?color=0.1"),
    ({}, 12345678901234567890, "?color=12345678901234567890"),
    ({}, [1, None, "a"], "?color=1&color=a"),
    (
        {"style": "deepObject"},
        {"a": {"b": [1, 2]}, "c": None},
        "?color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2",
    ),
    ({"explode": False}, [{"a": 1}], "?color=%7B%22a%22%3A1%7D"),
]


def one_parameter(server: str, path: str, **parameter: Anything) -> dict[str, Any]:
    said: Anything = {"name": "color", "schema": {}, **parameter}
    return document({path: {"get": {"operationId": "it", "parameters": [said]}}}, server=server)


async def asked(folder: Path, path: str, value: Anything, **parameter: Anything) -> Anything:
    """The one request that a call comes to."""
    async with Service() as service:
        made = written(folder, one_parameter(service.url, path, **parameter))
        async with connected(OpenApi("api", made)) as call:
            output = await call("it", color=value)
        assert (output.content, output.error) == ({"status": 204}, False)
        (seen,) = service.seen
        return seen


@pytest.mark.parametrize(("style", "explode", "value", "expected"), PATH)
async def test_a_path_parameter_is_written_as_the_specification_shows(
    style: str,
    explode: Anything,
    value: Anything,
    expected: str,
    tmp_path: Path,
) -> None:
    told = {"in": "path", "required": True, "style": style, "explode": explode}
    seen = await asked(tmp_path, "/a/{color}/z", value, **told)
    assert seen.target == f"/a/{expected}/z"


@pytest.mark.parametrize(("style", "explode", "value", "expected"), QUERY)
async def test_a_query_parameter_is_written_as_the_specification_shows(
    style: str,
    explode: Anything,
    value: Anything,
    expected: str,
    tmp_path: Path,
) -> None:
    seen = await asked(tmp_path, "/a", value, **{"in": "query", "style": style, "explode": explode})
    assert seen.target == f"/a?{expected}"


@pytest.mark.parametrize(("parameter", "value", "expected"), UNTOLD)
async def test_what_the_table_leaves_open_has_one_answer(
    parameter: dict[str, Any], value: Anything, expected: str, tmp_path: Path
) -> None:
    seen = await asked(tmp_path, "/a", value, **{"in": "query", **parameter})
    assert seen.target == f"/a{expected}"


@pytest.mark.parametrize(
    ("explode", "value", "expected"),
    [
        (False, STRING, "blue"),
        (False, ARRAY, "blue,black,brown"),
        (False, OBJECT, "R,100,G,200,B,150"),
        (True, OBJECT, "R=100,G=200,B=150"),
        (False, "a b/c", "a b/c"),
    ],
)
async def test_a_header_is_written_simply_and_not_escaped(
    explode: Anything,
    value: Anything,
    expected: str,
    tmp_path: Path,
) -> None:
    seen = await asked(tmp_path, "/a", value, **{"in": "header", "name": "color", "explode": explode})
    assert seen.headers["color"] == expected


async def test_cookies_share_one_header(tmp_path: Path) -> None:
    parameters: Anything = [
        {"name": "color", "in": "cookie", "schema": {}},
        {"name": "size", "in": "cookie", "schema": {}, "explode": False},
    ]
    async with Service() as service:
        made = document({"/a": {"get": {"operationId": "it", "parameters": parameters}}}, server=service.url)
        async with connected(OpenApi("api", written(tmp_path, made))) as call:
            await call("it", color="a;b", size=[1, 2])
    assert service.seen[0].headers["cookie"] == "color=a%3Bb; size=1,2"


async def test_a_parameter_with_content_is_written_as_json(tmp_path: Path) -> None:
    content = {"content": {"application/json": {"schema": {"type": "object"}}}, "schema": None}
    seen = await asked(tmp_path, "/a", {"lat": 1.5, "long": "x"}, **{"in": "query", **content})
    assert seen.target == "/a?color=%7B%22lat%22%3A1.5%2C%22long%22%3A%22x%22%7D"


@pytest.mark.parametrize("value", ["..", ".", "", [], "%2e."])
async def test_a_path_parameter_cannot_lead_to_another_path(value: Anything, tmp_path: Path) -> None:
    async with Service() as service:
        said: Anything = {"in": "path", "required": True, "schema": {}}
        made = written(tmp_path, one_parameter(service.url, "/users/{color}/x", **said))
        async with connected(OpenApi("api", made)) as call:
            output = await call("it", color=value)
    if value == "%2e.":  # a percent sign is data, so this is a name like any other
        assert service.seen[0].target == "/users/%252e./x"
    else:
        assert output.error
        assert str(output.content).startswith("Not sent: ")
        assert service.seen == []


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "\x00"])
async def test_a_header_cannot_hold_another(value: str, tmp_path: Path) -> None:
    async with Service() as service:
        made = written(tmp_path, one_parameter(service.url, "/a", **{"in": "header"}))
        async with connected(OpenApi("api", made)) as call:
            output = await call("it", color=value)
    assert output.error
    assert "color: a header cannot hold control characters" in str(output.content)
    assert service.seen == []


async def test_the_path_itself_may_hold_anything(tmp_path: Path) -> None:
    told = {"in": "path", "required": True, "name": "pet %41 id"}
    async with Service() as service:
        made = written(tmp_path, one_parameter(service.url, "/a b/é/%41/{pet %41 id}.json", **told))
        async with connected(OpenApi("api", made)) as call:
            await call("it", **{"pet %41 id": "x{y}"})
    assert service.seen[0].target == "/a%20b/%C3%A9/%41/x%7By%7D.json"


async def test_a_header_that_is_always_sent_can_be_a_parameter(tmp_path: Path) -> None:
    seen = await asked(tmp_path, "/a", "mine/1", **{"in": "header", "name": "color"})
    assert seen.headers["user-agent"] == "offing"
    parameters = [{"name": "user-agent", "in": "header"}]
    async with Service() as service:
        made = document({"/a": {"get": {"operationId": "it", "parameters": parameters}}}, server=service.url)
        async with connected(OpenApi("api", written(tmp_path, made))) as call:
            await call("it", **{"user-agent": "mine/1"})
    assert service.seen[0].headers["user-agent"] == "mine/1"
