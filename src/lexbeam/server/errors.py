"""What the server refuses, with the status that clients expect for it."""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def bad_request(message: str) -> ApiError:
    """Return the error for a request that can't be used."""
    return ApiError(400, message)


def unsupported(field: str, more: str = "") -> ApiError:
    """Return the error for a value that is not among those there are."""
    return ApiError(400, f"Value for '{field}' not supported.{' ' if more else ''}{more}")


def not_found(what: str) -> ApiError:
    """Return the error for something that is not there."""
    return ApiError(404, f"{what} not found")


def too_busy(seconds: int) -> ApiError:
    """Return the error for a server that has too much to do."""
    return ApiError(429, "Too many requests, try again later", {"Retry-After": str(seconds)})
