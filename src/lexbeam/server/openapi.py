"""The description of all endpoints that ``/openapi.json`` shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lexbeam.server.endpoints import Endpoint
from lexbeam.server.schemas import BODIES, PARAMETERS, RESPONSES, path_parameter
from lexbeam.version import __version__

_ERRORS = {
    "400": "The request can't be used",
    "403": "The key is missing or wrong",
    "404": "There is no such thing",
    "413": "The request is too large",
    "414": "The address is too long",
    "415": "What was sent or is wanted has a form that there is not",
    "429": "There is too much to do: try again later",
    "456": "The quota is used up",
    "500": "Something went wrong",
    "503": "The server is starting or stopping, or a document is not ready",
    "504": "The request took too long",
}
_NOT_JSON = {
    "/v2/glossaries/{id}/entries": "text/tab-separated-values",
    "/v2/document/{id}/result": "application/octet-stream",
    "/download_file/{name}": "application/octet-stream",
    "/v1/trace": "text/html",
    "/metrics": "text/plain",
}


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the description."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        for method in endpoint.methods:
            paths.setdefault(endpoint.path, {})[method.lower()] = _operation(endpoint, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lexbeam",
            "version": __version__,
            "description": "Translation with terms that are always there: DeepL's API (/v2, /v3), "
            "LibreTranslate's, and our own (/v1).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {
                "DeepLError": _object({"message": {"type": "string"}}, ["message"]),
                "Error": _object({"error": {"type": "string"}}, ["error"]),
            },
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "Authorization"},
            },
        },
    }


def _operation(endpoint: Endpoint, method: str) -> dict[str, Any]:
    group = endpoint.path.split("/")[1]
    tags = {"v1": "lexbeam", "v2": "DeepL", "v3": "DeepL"}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": _operation_id(endpoint.path, method),
        "tags": [tags.get(group, "LibreTranslate")],
        "parameters": _parameters(endpoint, method),
        "responses": _responses(endpoint, method),
    }
    if not endpoint.public:
        operation["security"] = [{}, {"key": []}]
    body = BODIES.get((method, endpoint.path))
    if body is not None:
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _operation_id(path: str, method: str) -> str:
    return f"{method.lower()}_{re.sub('[^a-z0-9]+', '_', path.lower()).strip('_')}"


def _parameters(endpoint: Endpoint, method: str) -> list[dict[str, Any]]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": path_parameter(endpoint.path)}
        for name in re.findall(r"\{(\w+)\}", endpoint.path)
    ]
    return [*in_path, *PARAMETERS.get((method, endpoint.path), [])]


def _responses(endpoint: Endpoint, method: str) -> dict[str, Any]:
    kind = _NOT_JSON.get(endpoint.path, "application/json")
    schema = RESPONSES.get((method, endpoint.path), {})
    success: dict[str, Any] = {"description": "Done"}
    if endpoint.status != 204:
        success["content"] = {kind: {"schema": schema} if kind == "application/json" else {}}
    error = "DeepLError" if endpoint.path.startswith(("/v2", "/v3")) else "Error"
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{error}"}}}
    errors = {status: {"description": text, "content": content} for status, text in _ERRORS.items()}
    return {str(endpoint.status): success, **errors}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}
