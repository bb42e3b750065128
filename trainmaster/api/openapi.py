"""The published contract, generated from the routes and the shapes they name. Built on the first question, then kept."""

import re
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from trainmaster.access.scopes import SCOPES
from trainmaster.api.policy import PolicyRoute
from trainmaster.api.problems import MEDIA_TYPE as PROBLEM_TYPE

_REF: Final = "#/components/schemas/"
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")
_WHEN: Final[dict[int, str]] = {
    200: "Done",
    201: "Created",
    202: "Asked for",
    204: "Done, nothing to show",
    503: "Not ready",
}


def contract(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of `app`."""
    if app.openapi_schema is None:
        app.openapi_schema = build(app.title, app.version, app.router.routes)
    return app.openapi_schema


def build(title: str, version: str, routes: list[BaseRoute]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of `routes`. Raises KeyError for a shape that nobody declared."""
    document = get_openapi(title=title, version=version, routes=routes)
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for name, schema in _shape_schemas().items():
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


def _shape_schemas() -> dict[str, Any]:
    from pydantic.json_schema import models_json_schema  # noqa: PLC0415

    from trainmaster.api.shapes import UNIONS, all_shapes  # noqa: PLC0415

    wanted = [
        (shape, "serialization" if shape.model_config.get("extra") == "allow" else "validation")
        for shape in all_shapes().values()
    ]
    _, schema = models_json_schema(wanted, ref_template=_REF + "{model}")  # type: ignore[arg-type]
    found: dict[str, Any] = schema["$defs"]
    for name, shapes in UNIONS.items():
        found[name] = {"anyOf": [{"$ref": _REF + shape.__name__} for shape in shapes]}
    return found


def _complete(operation: dict[str, Any], route: PolicyRoute, schemas: dict[str, Any]) -> None:
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
        operation["x-scope"] = {"name": scope, **SCOPES[scope]._asdict()}


def _answer(status: int, name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": _WHEN[status]}
    if name:
        answer["content"] = _content(name, schemas)
    return answer


def _content(name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    if "/" in name:
        kind = {"type": "string"} if name.startswith("text/") else {"type": "string", "format": "binary"}
        return {name: {"schema": kind}}
    if name not in schemas:
        raise KeyError(f"no shape is called {name}")
    return {"application/json": {"schema": {"$ref": _REF + name}}}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]
