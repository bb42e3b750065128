"""The published contract, generated from the routes and the answers they name. Built on the first question, then
kept.
"""

import re
from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from trainmaster import answers
from trainmaster.access.scopes import SCOPES
from trainmaster.api.policy import PolicyRoute, Schema
from trainmaster.api.problems import MEDIA_TYPE as PROBLEM_TYPE
from trainmaster.messages import render

_REF: Final = "#/components/schemas/"
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")
_WHEN: Final[dict[int, str]] = {
    200: "Done",
    201: "Created",
    206: "A part",
    202: "Asked for",
    204: "Done, nothing to show",
    503: "Not ready",
}


def contract(app: FastAPI) -> Schema:
    """Return the OpenAPI document of `app`."""
    if app.openapi_schema is None:
        app.openapi_schema = build(app.title, app.version, app.router.routes)
    return app.openapi_schema


def build(title: str, version: str, routes: list[BaseRoute]) -> Schema:
    """Return the OpenAPI 3.1 document of `routes`. Raises KeyError for an answer that nobody declared."""
    described = [route.checked() for route in routes if isinstance(route, PolicyRoute) and route.include_in_schema]
    document = get_openapi(title=title, version=version, routes=described)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for name, schema in {**answer_schemas(), **taken_schemas()}.items():
        schemas.setdefault(name, schema)
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "tm_session"},
    }
    for route in routes:
        if isinstance(route, PolicyRoute) and route.include_in_schema:
            for method in route.methods or ():
                _complete(document["paths"][route.path_format][method.lower()], route, schemas)
    return document


def answer_schemas() -> dict[str, Schema]:
    """Return the schema of every answer, by its name in the contract."""
    structs = [kind for kind in vars(answers).values() if isinstance(kind, type) and issubclass(kind, answers.Answer)]
    _, found = msgspec.json.schema_components(structs, ref_template=_REF + "{name}")
    return {
        **{_name(name): _renamed(schema) for name, schema in found.items()},
        "Document": {"type": "object", "description": "A document of its own format."},
        "JobOrPreview": {"anyOf": [{"$ref": _REF + "Job"}, {"$ref": _REF + "Preview"}]},
    }


def _name(kind: str) -> str:
    """Return what the contract calls an answer: as its class is called, but for what sets it off from a record
    (`answers`).
    """
    return kind.removesuffix("View")


def _renamed(part: Any) -> Any:
    """Return a part of a schema with the contract's names, its title left out, and objects of any fields said to be
    such.
    """
    if isinstance(part, list):
        return [_renamed(one) for one in part]
    if not isinstance(part, dict):
        return part
    if part == {"type": "object"}:
        return {"type": "object", "additionalProperties": True}
    properties = {name: _renamed(schema) for name, schema in part.get("properties", {}).items()}
    rest = {
        key: _name(value) if key == "$ref" else _renamed(value)
        for key, value in part.items()
        if key not in ("title", "properties")
    }
    return rest | ({"properties": properties} if "properties" in part else {})


def taken_schemas() -> dict[str, Schema]:
    """Return the schema of every body that a raw route takes."""
    from pydantic.json_schema import models_json_schema  # noqa: PLC0415

    from trainmaster.api.takes import TAKES  # noqa: PLC0415

    _, schema = models_json_schema([(body, "validation") for body in TAKES], ref_template=_REF + "{model}")
    found: dict[str, Schema] = schema["$defs"]
    return found


def _complete(operation: Schema, route: PolicyRoute, schemas: Schema) -> None:
    """Write what FastAPI cannot know: answers, raw bodies and parameters, errors, and the scope."""
    operation["responses"] = {str(status): _answer(status, name, schemas) for status, name in route.doc.answers.items()}
    operation["responses"]["default"] = {
        "description": "Refused: a problem document",
        "content": {PROBLEM_TYPE: {"schema": {"$ref": _REF + "Problem"}}},
    }
    if route.doc.takes is not None:
        operation["requestBody"] = {"required": True, "content": _content(route.doc.takes, schemas)}
    known = {parameter["name"] for parameter in operation.get("parameters", [])}
    given = [p for p in (*_path_parameters(route.path), *route.doc.parameters) if p["name"] not in known]
    if given:
        operation["parameters"] = [*operation.get("parameters", []), *given]
    scope = route.policy.scope
    operation["security"] = [{"token": []}, {"session": []}] if scope else []
    if scope:
        operation["x-scope"] = {
            "name": scope,
            **{language: render.text(SCOPES[scope], language) for language in ("zh", "en")},
        }


def _answer(status: int, name: str, schemas: Schema) -> Schema:
    answer: Schema = {"description": _WHEN[status]}
    if name:
        answer["content"] = {kind: of for one in name.split(" or ") for kind, of in _content(one, schemas).items()}
    return answer


def _content(name: str, schemas: Schema) -> Schema:
    if "/" in name:
        kind = {"type": "string"} if name.startswith("text/") else {"type": "string", "format": "binary"}
        return {name: {"schema": kind}}
    if name not in schemas:
        raise KeyError(f"no answer is called {name}")
    return {"application/json": {"schema": {"$ref": _REF + name}}}


def _path_parameters(path: str) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]
