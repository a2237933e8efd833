"""The application: all endpoints, and what every answer has."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import AsyncIterator, Mapping
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexbeam.server import deepl, libretranslate, native
from lexbeam.server.context import Call, Context
from lexbeam.server.endpoints import (
    Endpoint,
    answer_request,
    error_response,
    is_deepl,
    make_routes,
)
from lexbeam.server.hosts import may_be_called
from lexbeam.server.openapi import describe

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "86400",
}
_PAGES = {
    "/": ("index.html", "text/html"),
    "/docs": ("docs.html", "text/html"),
    "/favicon.ico": ("icon.svg", "image/svg+xml"),
}
_FOR_PAGES = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
_FOR_ALL = _FOR_PAGES + [(name.lower().encode(), value.encode()) for name, value in _CORS.items()]
_FREQUENT = ("/translate", "/v2/translate", "/v1/translate")
_SLASHES = re.compile("/{2,}")
ALLOW = "start the server with --allow-host and this name if it is one of yours"
_STATIC = {
    "page.css": "text/css",
    "api.js": "text/javascript",
    "choices.js": "text/javascript",
    "elements.js": "text/javascript",
    "page.js": "text/javascript",
    "state.js": "text/javascript",
    "words.js": "text/javascript",
    "docs.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


async def _metrics(call: Call) -> Any:
    return Response(call.context.metrics.text(), media_type="text/plain; version=0.0.4")


async def _openapi(_call: Call) -> Any:
    return describe(ENDPOINTS)


ENDPOINTS: list[Endpoint] = [
    *deepl.ENDPOINTS,
    *libretranslate.ENDPOINTS,
    *native.ENDPOINTS,
    Endpoint("/metrics", _metrics, public=True, summary="Counters for Prometheus"),
    Endpoint("/openapi.json", _openapi, public=True, summary="This description"),
    Endpoint("/spec", _openapi, public=True, summary="The same, where LibreTranslate has it"),
]


def build_app(context: Context) -> ASGIApp:
    """Return the application of a server."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        context.ready = False
        await context.close()

    context.metrics.watch(context.scheduler)
    routes = make_routes(ENDPOINTS, context)
    routes += [_page(path, name, kind) for path, (name, kind) in _PAGES.items()]
    routes += [_page(f"/static/{name}", name, kind) for name, kind in _STATIC.items()]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _refuse},  # type: ignore[dict-item]
    )
    app.router.redirect_slashes = False
    frequent = {path: _directly(app, ENDPOINTS, path, context) for path in _FREQUENT}
    return Doors(app, frequent, context)


def _directly(app: ASGIApp, endpoints: list[Endpoint], path: str, context: Context) -> ASGIApp:
    """Return what answers a path; what its endpoint does not take goes the usual way."""
    (endpoint,) = [each for each in endpoints if each.path == path]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in endpoint.methods:
            await app(scope, receive, send)
            return
        scope["lexbeam.endpoint"] = path
        response = await answer_request(endpoint, context, Request(scope, receive, send))
        await response(scope, receive, send)

    return answer


def _page(path: str, name: str, kind: str) -> Route:
    content = files("lexbeam.server").joinpath("static", name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(content, media_type=f"{kind}; charset=utf-8")

    return Route(path, answer, methods=["GET"])


async def _refuse(request: Request, error: HTTPException) -> Response:
    message = "Not found" if error.status_code == 404 else error.detail
    return error_response(request.url.path, error.status_code, message, error.headers)


def _host(scope: Scope) -> str:
    """Return by which name a request calls the server."""
    found = [value for name, value in scope["headers"] if name == b"host"]
    return found[0].decode("latin-1") if found else ""


class Doors:
    """Adds to every answer what browsers have to know, and counts it.

    Endpoints that are called all the time are reached without the way through Starlette, which
    takes longer than what they do themselves.
    """

    def __init__(self, app: ASGIApp, frequent: Mapping[str, ASGIApp], context: Context) -> None:
        self._app = app
        self._frequent = frequent
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["path"] = _SLASHES.sub("/", scope["path"]).rstrip("/") or "/"
        open_to_others = not is_deepl(scope["path"]) and scope["path"] != "/"
        added = _FOR_ALL if open_to_others else _FOR_PAGES
        start, status = time.monotonic(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                message["headers"] += [each for each in added if each[0] not in present]
            await send(message)

        try:
            app = self._refusal(scope) or self._frequent.get(scope["path"], self._app)
            await app(scope, receive, send_with_headers)
        finally:
            endpoint = scope.get("lexbeam.endpoint", "other")
            self._context.metrics.count(endpoint, status, time.monotonic() - start)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """Return the answer to what no endpoint gets to see, None for all else."""
        path, names = scope["path"], self._context.names
        if names is not None and not may_be_called(_host(scope), names):
            return error_response(path, 403, f"Called by an unknown name: {ALLOW}")
        if len(scope["query_string"]) + len(path) > self._context.limits.address_bytes:
            return error_response(path, 414, "The address is too long: send it in the body")
        if scope["method"] == "OPTIONS" and not is_deepl(path):
            return Response(status_code=204)
        return None
