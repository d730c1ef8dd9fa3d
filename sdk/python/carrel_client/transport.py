"""HTTP requests to one server: connections, retries, and the encodings of the API."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import select
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from .errors import BusyError, CarrelError, ServerError, UnreachableError, error_of

#: Bytes that are read or sent at a time.
PIECE = 256 * 1024

#: Longest pause before another attempt, in seconds.
MAX_DELAY = 60.0

#: A connection that was idle for longer is not used again, in seconds. The server may close it at the same moment.
MAX_IDLE = 4.0

#: Connections that wait for the next request.
MAX_WAITING = 8

#: Longest error body that is read. The message is at its beginning.
MAX_ERROR = 64 * 1024

#: Scheme, name and port of a server.
Host: TypeAlias = tuple[str, str, int | None]


@dataclass(frozen=True)
class FileContent:
    """A small file in a form, for example a picture of an account."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Body:
    """The body of a request. `pieces` starts from the beginning for each attempt."""

    content_type: str
    length: int
    pieces: Callable[[], Iterator[bytes]]

    @staticmethod
    def of(content_type: str, content: bytes) -> Body:
        return Body(content_type, len(content), lambda: iter((content,)))


class Response:
    """A successful response. It has to be read to its end or closed."""

    def __init__(self, response: http.client.HTTPResponse, release: Callable[[bool], None]) -> None:
        self._response = response
        self._release = release
        self.status = response.status
        #: Bytes of the body, if the server said so.
        self.length = response.length
        self._is_released = False

    def header(self, name: str) -> str | None:
        return self._response.getheader(name)

    def pieces(self) -> Iterator[bytes]:
        """The body. Raises UnreachableError if it ends too early."""
        # A body of unknown length may be a stream of events, whose parts are wanted as they arrive.
        read = self._response.read1 if self.length is None else self._response.read
        received = 0
        try:
            while True:
                with _network_errors("The connection was lost"):
                    piece = read(PIECE)
                if not piece:
                    break
                received += len(piece)
                yield piece
            if self.length is not None and received < self.length:
                raise UnreachableError("The connection was lost: the response is not complete.")
        finally:
            self.close()

    def read(self) -> bytes:
        return b"".join(self.pieces())

    def close(self) -> None:
        """Gives the connection back, or closes it if a part of the body was not read."""
        if not self._is_released:
            self._is_released = True
            self._release(self._response.isclosed() and not self._response.will_close)


class Download:
    """The content of a file or a part of it. Iterate over it, `read()` it, or close it."""

    def __init__(self, response: Response, id: str = "") -> None:
        self._response = response
        #: The id of the file, which is a hash of its content. Empty if the response does not say it.
        self.id = id
        #: Bytes that follow, if the server said so.
        self.size = response.length
        self.content_type = response.header("Content-Type") or ""

    def __iter__(self) -> Iterator[bytes]:
        return self._response.pieces()

    def read(self) -> bytes:
        return self._response.read()

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Transport:
    """Sends requests to one server with one token. It may be used by several threads."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        max_attempts: int = 6,
        first_delay: float = 0.5,
        user_agent: str = "carrel-client-python/0.2.0",
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        _host_of(url)
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("The token has characters that no token has.")
        self.url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._first_delay = first_delay
        self._user_agent = user_agent
        self._ssl_context = ssl_context
        #: Idle connections, and since when they are idle.
        self._idle: dict[Host, list[tuple[http.client.HTTPConnection, float]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection, _ in connections:
                connection.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Calls the API with the token. `path` begins at the root of the server: `/api2/ping/`."""
        search = _encoded(query or {})
        credentials = {} if self._token is None else {"Authorization": f"Token {self._token}"}
        return self.send(
            method,
            f"{self.url}{path}{'?' if search else ''}{search}",
            body=body,
            headers={"Accept": "application/json", **credentials, **(headers or {})},
            is_idempotent=method != "POST",
        )

    def send(
        self,
        method: str,
        url: str,
        *,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        is_idempotent: bool,
    ) -> Response:
        """Sends a request without the token.

        Repeats it if the server was too busy. After a lost connection, repeats it if a second execution has the effect of one.
        """
        attempt = 1
        while True:
            try:
                return self._attempt(method, url, body, headers or {})
            except CarrelError as error:
                # 503 and 429 say that nothing was done. 502 and 504 are of a proxy, which cannot know.
                is_refused = error.status in (429, 503)
                is_lost = is_idempotent and isinstance(error, (UnreachableError, BusyError))
                if attempt >= self._max_attempts or not (is_refused or is_lost):
                    raise
                delay = self._first_delay * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
                # The random part spreads clients that were refused together.
                time.sleep(min(delay, MAX_DELAY) * (1 + random.random() / 4))
                attempt += 1

    def _attempt(self, method: str, url: str, body: Body | None, headers: Mapping[str, str]) -> Response:
        try:
            host = _host_of(url)
        except ValueError as error:
            raise ServerError("The server sent a link that is no URL of HTTP.") from error
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = self._connection(host)
        try:
            with _network_errors("The server cannot be reached"):
                connection.putrequest(method, target)
                connection.putheader("User-Agent", self._user_agent)
                for name, value in headers.items():
                    connection.putheader(name, value)
                if body is not None:
                    connection.putheader("Content-Type", body.content_type)
                if body is not None or method in ("POST", "PUT"):
                    connection.putheader("Content-Length", str(body.length if body is not None else 0))
                connection.endheaders()
            if body is not None:
                _send_body(connection, body)
            with _network_errors("The server cannot be reached"):
                received = connection.getresponse()
        except BaseException:
            connection.close()
            raise

        def release(is_reusable: bool) -> None:
            if is_reusable:
                self._keep(host, connection)
            else:
                connection.close()

        response = Response(received, release)
        if 200 <= received.status < 300:
            return response
        try:
            content = received.read(MAX_ERROR)
        except (OSError, http.client.HTTPException):
            content = b""
        response.close()
        raise error_of(received.status, content, received.getheader("Retry-After"))

    def _connection(self, host: Host) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                idle = self._idle.get(host)
                found = idle.pop() if idle else None
            if found is None:
                break
            if not _is_closing(*found):
                return found[0]
            found[0].close()
        scheme, name, port = host
        if scheme == "https":
            return http.client.HTTPSConnection(name, port, timeout=self._timeout, context=self._ssl_context)
        return http.client.HTTPConnection(name, port, timeout=self._timeout)

    def _keep(self, host: Host, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            idle = self._idle.setdefault(host, [])
            if len(idle) < MAX_WAITING:
                idle.append((connection, time.monotonic()))
                return
        connection.close()


def _host_of(url: str) -> Host:
    """The host of a URL. Raises ValueError for anything but HTTP."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("The URL must begin with http:// or https:// and the name of a host.")
    return parts.scheme, parts.hostname, parts.port


@contextlib.contextmanager
def _network_errors(sentence: str) -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        raise UnreachableError(f"{sentence}: {str(error) or type(error).__name__}.") from error


def _is_closing(connection: http.client.HTTPConnection, since: float) -> bool:
    """Whether the server closed the connection, or may do so at any moment."""
    if connection.sock is None or time.monotonic() - since > MAX_IDLE:
        return True
    readable, _, _ = select.select([connection.sock], [], [], 0)
    return bool(readable)


def _send_body(connection: http.client.HTTPConnection, body: Body) -> None:
    sent = 0
    # Errors of the content, for example of a disk, are not those of the network.
    for piece in body.pieces():
        try:
            with _network_errors("The connection was lost"):
                connection.send(piece)
        except UnreachableError as error:
            if isinstance(error.__cause__, (BrokenPipeError, ConnectionResetError)):
                # The server refused the body before its end. Its response is read next.
                return
            raise
        sent += len(piece)
    if sent != body.length:
        raise ValueError("The content changed while it was sent.")


class CallGroup:
    """Base of the classes with the generated calls."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _response(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        json: Mapping[str, object] | None = None,
        form: Mapping[str, object] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Response:
        body = _form_body(form) if form is not None else _json_body(json or {})
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        return self._transport.call(method, path, query=query, body=body, headers=sent)

    def _call(self, method: str, path: str, **fields: Mapping[str, Any]) -> Any:
        """Returns the JSON of the response; None if it is empty."""
        return parsed(self._response(method, path, **fields))

    def _stream(self, method: str, path: str, **fields: Mapping[str, Any]) -> Download:
        """Returns a response that is not JSON."""
        return Download(self._response(method, path, **fields))


def parsed(response: Response) -> Any:
    """The JSON of a response; None if it is empty."""
    content = response.read()
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError as error:
        raise ServerError("The response is not JSON: is this the right URL?", response.status) from error


def quoted(segment: str | int) -> str:
    """A value as one segment of a path."""
    return quote(str(segment), safe="")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _encoded(fields: Mapping[str, object]) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in fields.items():
        values = value if isinstance(value, (list, tuple)) else (value,)
        pairs.extend((name, _text(one)) for one in values if one is not None)
    return urlencode(pairs)


def _json_body(fields: Mapping[str, object]) -> Body | None:
    sent = {name: value for name, value in fields.items() if value is not None}
    return Body.of("application/json", json.dumps(sent).encode()) if sent else None


def _form_body(fields: Mapping[str, object]) -> Body:
    boundary = f"carrel-{uuid.uuid4()}"
    parts: list[bytes] = []
    for name, value in fields.items():
        if isinstance(value, FileContent):
            parts += [file_head(boundary, name, value.name), value.content, b"\r\n"]
        elif value is not None:
            parts.append(text_part(boundary, name, _text(value)))
    parts.append(f"--{boundary}--\r\n".encode())
    return Body.of(f"multipart/form-data; boundary={boundary}", b"".join(parts))


def text_part(boundary: str, name: str, value: str) -> bytes:
    return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


def file_head(boundary: str, field: str, name: str) -> bytes:
    """The headers of a file in a form."""
    disposition = f"form-data; name=\"{field}\"; filename*=UTF-8''{encoded_name(name)}"
    return (
        f"--{boundary}\r\nContent-Disposition: {disposition}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()
    )


def encoded_name(name: str) -> str:
    """A name for a header, percent-encoded. Names of a disk may have bytes that are not UTF-8."""
    return quote("".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in name), safe="")
