"""From an HTTP request to a handler and back: body, key, errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lexbeam.errors import LexbeamError
from lexbeam.server.bodies import Fields, read_fields
from lexbeam.server.context import Call, Context, status_of
from lexbeam.server.errors import ApiError
from lexbeam.server.keys import Key
from lexbeam.server.logs import log_failure

Handler = Callable[[Call], Awaitable[Any]]

_SMALL = 128 * 1024
_SCHEMES = ("deepl-auth-key", "bearer")


@dataclass(frozen=True)
class Endpoint:
    """A path, what answers it, and who may ask."""

    path: str
    handler: Handler
    methods: Sequence[str] = ("GET",)
    limit: str | None = None
    """The name of the limit on its body."""
    public: bool = False
    """Whether it needs no key."""
    summary: str = ""
    status: int = 200


def make_routes(endpoints: Sequence[Endpoint], context: Context) -> list[Route]:
    """Return what Starlette calls for endpoints: one route per path, for all of its methods."""
    paths: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        for method in endpoint.methods:
            paths.setdefault(endpoint.path, {})[method] = endpoint
    return [_route(path, methods, context) for path, methods in paths.items()]


def _route(path: str, methods: Mapping[str, Endpoint], context: Context) -> Route:
    async def answer(request: Request) -> Response:
        request.scope["lexbeam.endpoint"] = path
        method = "GET" if request.method == "HEAD" else request.method
        return await answer_request(methods[method], context, request)

    return Route(path, answer, methods=list(methods))


def is_deepl(path: str) -> bool:
    """Return whether a path belongs to DeepL's API."""
    return path.startswith(("/v2/", "/v3/"))


def error_response(path: str, status: int, message: str, headers: Any = None) -> Response:
    """Return an error in the shape that the clients of a path read."""
    body = {"message" if is_deepl(path) else "error": message}
    return Answer(body, status, headers)


class Answer(JSONResponse):
    """JSON as it is sent: any text can be encoded, even half of a surrogate pair."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            import json  # noqa: PLC0415

            return json.dumps(content).encode()


async def answer_request(endpoint: Endpoint, context: Context, request: Request) -> Response:
    """Return what an endpoint answers to a request; whatever goes wrong is an answer, too."""
    path = request.url.path
    limit = getattr(context.limits, endpoint.limit) if endpoint.limit else _SMALL
    try:
        if not context.ready:
            raise ApiError(503, "The server is starting or stopping")
        async with context.memory.hold(_body_size(request, limit)):
            fields = await read_fields(request, limit)
            key = _key(request, fields, context, endpoint.public)
            result = await _handled(endpoint, Call(context, request, fields, key))
    except ApiError as error:
        return error_response(path, error.status, error.message, error.headers)
    except LexbeamError as error:
        return error_response(path, status_of(error), str(error))
    except Exception:
        log_failure(f"{request.method} {endpoint.path} failed")
        return error_response(path, 500, "Something went wrong")
    if isinstance(result, Response):
        return result
    return Response(status_code=204) if result is None else Answer(result, endpoint.status)


def _body_size(request: Request, limit: int) -> int:
    """Return how large a body may become, by what its headers say."""
    if "transfer-encoding" in request.headers or "content-encoding" in request.headers:
        return limit
    announced = request.headers.get("content-length", "0")
    return min(int(announced), limit) if announced.isdecimal() else limit


async def _handled(endpoint: Endpoint, call: Call) -> Any:
    """Return what an endpoint answers; a request that fails costs nothing."""
    try:
        return await endpoint.handler(call)
    except BaseException:
        call.refund()
        raise


def _key(request: Request, fields: Fields, context: Context, public: bool) -> Key:
    """Return the key that came with a request.

    Raises:
        ApiError: one is needed, and there is none, or a wrong one.
    """
    given = given_key(request, fields)
    key = context.keys.find(given)
    if key is not None:
        return key
    if public:
        return Key("")
    if not given and not is_deepl(request.url.path):
        raise ApiError(400, "Please contact the server operator to get an API key")
    raise ApiError(403, "Authorization failure, check the API key")


def given_key(request: Request, fields: Fields) -> str | None:
    """Return the key that a request carries, wherever its client puts it."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in _SCHEMES and key.strip():
        return key.strip()
    for name in ("api_key", "auth_key"):
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return None
