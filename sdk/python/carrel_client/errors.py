"""Errors of calls. Each has the status of the response and the sentence of the server."""

from __future__ import annotations

import json


class CarrelError(Exception):
    """A call failed. `status` is 0 if there was no response."""

    def __init__(self, message: str, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        #: Seconds, from the header Retry-After.
        self.retry_after = retry_after


class UnreachableError(CarrelError):
    """No complete response: the server is down, its name does not resolve, or the connection was lost."""


class NotModifiedError(CarrelError):
    """304: the content still has the tag that the request named."""


class InvalidRequestError(CarrelError):
    """400 and other statuses from 400 to 499: the server rejects the input."""


class UnauthorizedError(CarrelError):
    """401: the token is invalid, expired or revoked, or the password is wrong."""


class ForbiddenError(CarrelError):
    """403: there is no token, or the caller may not do this."""


class NotFoundError(CarrelError):
    """404, 410 or 441: something that the request names does not exist for the caller."""


class ConflictError(CarrelError):
    """409 or 412: another change came first, or the name is taken."""


class LockedError(CarrelError):
    """423: the file is locked by somebody else."""


class PasswordNeededError(CarrelError):
    """The library is encrypted, and this token has not unlocked it."""


class TooLargeError(CarrelError):
    """413 or 442: the body or the file is larger than the server accepts."""


class NoSpaceError(CarrelError):
    """443 or 507: the quota of the owner or the disk of the server is full."""


class BusyError(CarrelError):
    """429, 502, 503 or 504: still busy after all attempts."""


class ServerError(CarrelError):
    """Any other status: the server failed, or it sent something that is not this API."""


_BY_STATUS: dict[int, type[CarrelError]] = {
    304: NotModifiedError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    412: ConflictError,
    413: TooLargeError,
    423: LockedError,
    429: BusyError,
    441: NotFoundError,
    442: TooLargeError,
    443: NoSpaceError,
    502: BusyError,
    503: BusyError,
    504: BusyError,
    507: NoSpaceError,
}

#: Longest part of a response that becomes a message, in characters.
_MAX_MESSAGE = 300


def error_of(status: int, body: bytes, retry_after: str | None) -> CarrelError:
    """The error of a response that is not a success."""
    text = body.decode("utf-8", "replace")
    message = (_message_in(text) or ("" if text.startswith("<") else text))[:_MAX_MESSAGE]
    kind = _BY_STATUS.get(status, InvalidRequestError if 400 <= status < 500 else ServerError)
    if "has not been decrypted" in message or "Repo is encrypted" in message:
        kind = PasswordNeededError
    seconds = float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
    return kind(message or f"The server answered {status}.", status, seconds)


def _message_in(text: str) -> str | None:
    """The sentence of an error body. The API has several shapes for it."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    if isinstance(body, str):
        return body
    if not isinstance(body, dict):
        return None
    if "lib_need_decrypt" in body:
        return "This library has not been decrypted."
    for name in ("error_msg", "detail", "error", "err", "non_field_errors"):
        value = body.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, str):
            return first
    return None
