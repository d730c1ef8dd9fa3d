"""Uploads and downloads of contents, which go through links."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, Union

from .errors import BusyError, CarrelError, ConflictError, ForbiddenError, NotFoundError, ServerError, UnreachableError
from .transport import PIECE, Body, Download, Transport, encoded_name, file_head, parsed, quoted, text_part

#: Larger files are sent in chunks, so that a lost connection costs one chunk at most.
CHUNK = 8_000_000

#: How often one transfer goes on after its connection was lost.
MAX_LOSSES = 3

#: Called with the bytes that are done and their total.
OnProgress = Callable[[int, int], None]

#: A path, the content itself, or an open file that can seek.
Source = Union[str, "os.PathLike[str]", bytes, BinaryIO]


@dataclass(frozen=True)
class Uploaded:
    """A file as the server stored it. `name` differs from the requested one if that was taken."""

    name: str
    id: str
    size: int


class Downloader:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def open(
        self, library: str, path: str, *, start: int = 0, end: int | None = None, commit_id: str | None = None
    ) -> Download:
        link = self._transport.call(
            "GET",
            f"/api2/repos/{quoted(library)}/file/",
            query={"p": path, "reuse": 1, "commit_id": commit_id},
        )
        id = link.header("oid") or ""
        is_part = start > 0 or end is not None
        headers = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if is_part else {}
        response = self._transport.send("GET", str(parsed(link)), headers=headers, is_idempotent=True)
        if is_part and response.status != 206:
            response.close()
            raise ServerError("The server ignored the range of a download.", response.status)
        return Download(response, id)

    def save(
        self, library: str, path: str, target: Path, *, commit_id: str | None, on_progress: OnProgress | None
    ) -> int:
        """Writes to a file beside the target, which replaces the target when it is complete."""
        partial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            with open(partial, "xb") as file:
                self._write(library, path, file, commit_id, on_progress)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            os.replace(partial, target)
            return size
        finally:
            partial.unlink(missing_ok=True)

    def _write(
        self, library: str, path: str, file: BinaryIO, commit_id: str | None, on_progress: OnProgress | None
    ) -> None:
        download = self.open(library, path, commit_id=commit_id)
        expected, total = download.id, download.size or 0
        for attempt in range(MAX_LOSSES + 1):
            try:
                with download:
                    for piece in download:
                        file.write(piece)
                        if on_progress is not None:
                            on_progress(file.tell(), total)
                return
            except UnreachableError:
                if attempt == MAX_LOSSES:
                    raise
            download = self.open(library, path, start=file.tell(), commit_id=commit_id)
            if download.id != expected:
                download.close()
                raise ConflictError(f"{path} changed during its download.", 412)


@dataclass(frozen=True)
class _Upload:
    library: str
    folder: str
    name: str
    file: BinaryIO
    size: int
    modified_at: datetime | None
    replace: bool
    on_progress: OnProgress | None


class Uploader:
    """Uploads files through links, which it caches."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._links: dict[str, str] = {}
        self._lock = threading.Lock()

    def upload(
        self,
        library: str,
        folder: str,
        source: Source,
        *,
        name: str | None,
        replace: bool,
        modified_at: datetime | None,
        resume: bool,
        on_progress: OnProgress | None,
    ) -> Uploaded:
        with _opened(source) as file:
            size = file.seek(0, os.SEEK_END)
            if isinstance(source, (str, os.PathLike)):
                name = name or Path(source).name
                modified_at = modified_at or datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, timezone.utc)
            if not name:
                raise ValueError("An upload of bytes or of an open file needs a name.")
            upload = _Upload(library, folder, name, file, size, modified_at, replace, on_progress)
            if size <= CHUNK:
                stored = self._post(upload, 0, size, {}, is_idempotent=replace)
            else:
                stored = self._resumed(upload) if resume else self._chunks(upload, 0, None)
            _report(upload, size)
            if stored is None:
                raise ServerError("The server did not say what it stored.", 200)
            return stored

    def _resumed(self, upload: _Upload) -> Uploaded | None:
        offset = self._stored_bytes(upload)
        if offset == 0 or offset >= upload.size:
            return self._chunks(upload, 0, None)
        try:
            return self._chunks(upload, offset, _sha256(upload.file))
        except CarrelError as error:
            if "digest" not in error.message.lower():
                raise
            # The parts at the server belong to another content.
            return self._chunks(upload, 0, None)

    def _chunks(self, upload: _Upload, offset: int, digest: bytes | None) -> Uploaded | None:
        losses = 0
        start = offset
        while True:
            end = min(upload.size, start + CHUNK)
            is_last = end == upload.size
            headers = {
                "Content-Range": f"bytes {start}-{end - 1}/{upload.size}",
                "Content-Disposition": f'attachment; filename="{encoded_name(upload.name)}"',
            }
            if is_last and digest is not None:
                headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(digest).decode()}:"
            try:
                stored = self._post(upload, start, end, headers, is_idempotent=not is_last)
            except (UnreachableError, BusyError):
                losses += 1
                if not is_last or losses > MAX_LOSSES:
                    raise
                # The response to the last chunk was lost. The file may be stored, and then the parts are gone.
                found = self._find_stored(upload)
                if found is not None:
                    return found
                start = self._stored_bytes(upload)
                continue
            if is_last:
                return stored
            start = end

    def _post(
        self, upload: _Upload, start: int, end: int, headers: dict[str, str], *, is_idempotent: bool
    ) -> Uploaded | None:
        body = _form(upload, start, end)
        link, is_cached = self._link(upload.library)
        for _ in range(2):
            try:
                response = self._transport.send(
                    "POST", f"{link}?ret-json=1", body=body, headers=headers, is_idempotent=is_idempotent
                )
                break
            except ForbiddenError:
                # Links expire, and end with the permission. One new link is requested then.
                if not is_cached:
                    raise
                with self._lock:
                    self._links.pop(upload.library, None)
                link, is_cached = self._link(upload.library)[0], False
        stored = parsed(response)
        if not isinstance(stored, list) or not stored:
            return None
        return Uploaded(stored[0]["name"], stored[0]["id"], stored[0]["size"])

    def _link(self, library: str) -> tuple[str, bool]:
        with self._lock:
            known = self._links.get(library)
        if known is not None:
            return known, True
        path = f"/api2/repos/{quoted(library)}/upload-link/"
        link = str(parsed(self._transport.call("GET", path, query={"p": "/"})))
        with self._lock:
            self._links[library] = link
        return link, False

    def _stored_bytes(self, upload: _Upload) -> int:
        path = f"/api/v2.1/repos/{quoted(upload.library)}/file-uploaded-bytes/"
        query = {"parent_dir": upload.folder, "file_name": upload.name}
        try:
            return int(parsed(self._transport.call("GET", path, query=query))["uploadedBytes"])
        except NotFoundError:
            # The folder does not exist yet, so nothing was sent to it.
            return 0

    def _find_stored(self, upload: _Upload) -> Uploaded | None:
        """The file at the server, if its size and time are those of the upload."""
        path = f"/api/v2.1/repos/{quoted(upload.library)}/file/"
        query = {"p": f"{upload.folder.rstrip('/')}/{upload.name}"}
        try:
            found = parsed(self._transport.call("GET", path, query=query))
        except NotFoundError:
            return None
        if upload.modified_at is None or found["size"] != upload.size:
            return None
        stored_at = int(datetime.fromisoformat(found["mtime"]).timestamp())
        is_same = stored_at == int(upload.modified_at.timestamp())
        return Uploaded(upload.name, found["obj_id"], found["size"]) if is_same else None


def _form(upload: _Upload, start: int, end: int) -> Body:
    """A form with the bytes of a file from `start` to `end`, which are read while they are sent."""
    boundary = f"carrel-{uuid.uuid4()}"
    fields = {
        "parent_dir": "/",
        "relative_path": upload.folder.strip("/"),
        "replace": "1" if upload.replace else "0",
    }
    if upload.modified_at is not None and upload.modified_at.timestamp() >= 0:
        time = upload.modified_at.astimezone(timezone.utc)
        fields["last_modify"] = time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head = b"".join(text_part(boundary, name, value) for name, value in fields.items())
    head += file_head(boundary, "file", upload.name)
    tail = f"\r\n--{boundary}--\r\n".encode()

    def pieces() -> Iterator[bytes]:
        yield head
        upload.file.seek(start)
        at = start
        while at < end:
            _report(upload, at)
            piece = upload.file.read(min(PIECE, end - at))
            if not piece:
                return
            yield piece
            at += len(piece)
        yield tail

    length = len(head) + (end - start) + len(tail)
    return Body(f"multipart/form-data; boundary={boundary}", length, pieces)


def _report(upload: _Upload, done: int) -> None:
    if upload.on_progress is not None:
        upload.on_progress(done, upload.size)


def _sha256(file: BinaryIO) -> bytes:
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.digest()


@contextlib.contextmanager
def _opened(source: Source) -> Iterator[BinaryIO]:
    """The source as an open file. One that the caller opened stays open."""
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield file
    else:
        yield source
