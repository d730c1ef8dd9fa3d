"""The client of one account at one server."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, cast

from . import types
from .admin import AdminCalls
from .errors import InvalidRequestError, UnauthorizedError
from .repo_token import RepoTokenCalls
from .transfers import Downloader, OnProgress, Source, Uploaded, Uploader
from .transport import Download, Transport
from .v2 import V2Calls
from .v21 import V21Calls

#: A file or folder of a listing. Its `type` is `file` or `dir`.
Entry: TypeAlias = types.FolderEntry | types.FileEntry


class Carrel:
    """One account at one server. Every method raises CarrelError. Several threads may use one client.

    Calls of the API are methods of `v21`, `v2`, `admin` and `repo_token`, named after their method and path:
    `GET /api/v2.1/repos/{repo_id}/dir/` is `v21.get_repo_dir(repo_id)`.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        max_attempts: int = 6,
        first_delay: float = 0.5,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """
        token: an API token of an account, a personal token, or for `repo_token` the API token of a library.
        timeout: seconds without any byte from the server.
        max_attempts: attempts of one call, the first included.
        first_delay: seconds before the second attempt, doubled for each further one. A `Retry-After` of the server goes first.
        """
        self._transport = Transport(
            url,
            token,
            timeout=timeout,
            max_attempts=max_attempts,
            first_delay=first_delay,
            ssl_context=ssl_context,
        )
        self._uploader = Uploader(self._transport)
        self._downloader = Downloader(self._transport)
        self.v21 = V21Calls(self._transport)
        self.v2 = V2Calls(self._transport)
        self.admin = AdminCalls(self._transport)
        self.repo_token = RepoTokenCalls(self._transport)

    @staticmethod
    def sign_in(url: str, username: str, password: str) -> str:
        """Signs in and returns a token, to be stored like a password. Raises UnauthorizedError."""
        transport = Transport(url)
        try:
            return V2Calls(transport).post_auth_token(username=username, password=password)["token"]
        except InvalidRequestError as error:
            # The API answers 400 for a wrong password.
            raise UnauthorizedError(error.message, error.status) from error
        finally:
            transport.close()

    def sign_out(self) -> None:
        """Revokes the token."""
        self.v2.post_logout_device()

    def upload(
        self,
        library: str,
        folder: str,
        source: Source,
        *,
        name: str | None = None,
        replace: bool = True,
        modified_at: datetime | None = None,
        resume: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Uploaded:
        """Uploads one file, a large one in chunks. Missing folders are created.

        source: a path, bytes, or an open file that can seek. The latter two need a name.
        replace: replaces a file of that name. Otherwise the new file gets a free name such as `a (1).txt`.
        resume: continues where an earlier upload of the same file stopped, which takes reading the file once more.
        on_progress: called with the bytes that were sent and their total. The count goes back if a part is sent again.
        """
        return self._uploader.upload(
            library,
            folder,
            source,
            name=name,
            replace=replace,
            modified_at=modified_at,
            resume=resume,
            on_progress=on_progress,
        )

    def download(
        self, library: str, path: str, *, start: int = 0, end: int | None = None, commit_id: str | None = None
    ) -> Download:
        """Opens a file, or the bytes from `start` to before `end`; as of a commit if one is given."""
        return self._downloader.open(library, path, start=start, end=end, commit_id=commit_id)

    def download_to(
        self,
        library: str,
        path: str,
        target: str | os.PathLike[str],
        *,
        commit_id: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> int:
        """Saves a file and returns its size. The target is replaced only by a complete content; a lost connection continues."""
        return self._downloader.save(library, path, Path(target), commit_id=commit_id, on_progress=on_progress)

    def walk(self, library: str, folder: str = "/") -> Iterator[tuple[str, Entry]]:
        """The paths and entries of everything below a folder, a folder before its content."""
        listing = self.v21.get_repo_dir(library, p=folder)
        for entry in listing["dirent_list"]:
            path = f"{folder.rstrip('/')}/{entry['name']}"
            yield path, cast(Entry, entry)
            if entry["type"] == "dir":
                yield from self.walk(library, path)

    def close(self) -> None:
        """Closes the connections. The client may be used again."""
        self._transport.close()

    def __enter__(self) -> Carrel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
