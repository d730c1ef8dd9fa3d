"""A client of the File Library Web API. It needs nothing but Python 3.11 or newer."""

from . import types
from .client import Carrel
from .errors import (
    BusyError,
    CarrelError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    LockedError,
    NoSpaceError,
    NotFoundError,
    NotModifiedError,
    PasswordNeededError,
    ServerError,
    TooLargeError,
    UnauthorizedError,
    UnreachableError,
)
from .transfers import Uploaded
from .transport import Download, FileContent

__all__ = [
    "BusyError",
    "Carrel",
    "CarrelError",
    "ConflictError",
    "Download",
    "FileContent",
    "ForbiddenError",
    "InvalidRequestError",
    "LockedError",
    "NoSpaceError",
    "NotFoundError",
    "NotModifiedError",
    "PasswordNeededError",
    "ServerError",
    "TooLargeError",
    "UnauthorizedError",
    "UnreachableError",
    "Uploaded",
    "types",
]
