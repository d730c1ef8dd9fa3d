"""Uses the client as a program of its users would. Every step is asserted; the last line of the output counts them."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from carrel_client import (
    Carrel,
    CarrelError,
    ConflictError,
    FileContent,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthorizedError,
    UnreachableError,
)

LARGE = 20_000_000

#: A PNG of one pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

steps = 0


def done(step: str) -> None:
    global steps
    steps += 1
    print(step, flush=True)


def refused(kind: type[CarrelError], status: int, call: Callable[[], object]) -> None:
    try:
        call()
    except CarrelError as error:
        assert type(error) is kind, f"{type(error).__name__} {error.status}: {error.message}"
        assert error.status == status, f"{error.status}: {error.message}"
        assert error.message
        return
    raise AssertionError(f"{kind.__name__} was expected")


def connect(url: str, token: str | None = None) -> Carrel:
    return Carrel(url, token, first_delay=0.001)


def upload_folder(carrel: Carrel, library: str, local: Path) -> None:
    for file in sorted(found for found in local.rglob("*") if found.is_file()):
        counts: list[int] = []
        folder = "/" + file.parent.relative_to(local).as_posix().removeprefix(".")
        uploaded = carrel.upload(library, folder, file, on_progress=lambda sent, total: counts.append(sent))
        assert uploaded.name == file.name and uploaded.size == file.stat().st_size, uploaded
        assert counts[0] == 0 and counts[-1] == uploaded.size, counts
        if uploaded.size == LARGE:
            assert len(counts) > 50, counts


def transfers(carrel: Carrel, library: str, local: Path) -> None:
    (local / "a/b").mkdir(parents=True)
    (local / "a/small.txt").write_text("0123456789")
    (local / "a/b/größe & maß.txt").write_text("Umlaute")
    (local / "empty").write_bytes(b"")
    large = os.urandom(LARGE)
    (local / "large.bin").write_bytes(large)
    upload_folder(carrel, library, local)
    done("uploaded a folder with progress")

    listed = {path: entry["type"] for path, entry in carrel.walk(library)}
    files = ["/a/b/größe & maß.txt", "/a/small.txt", "/empty", "/large.bin"]
    assert sorted(path for path, kind in listed.items() if kind == "file") == files, listed
    assert sorted(path for path, kind in listed.items() if kind == "dir") == ["/a", "/a/b"], listed
    done("listed everything below a folder")

    with carrel.download(library, "/a/small.txt", start=2, end=5) as part:
        assert part.size == 3 and part.read() == b"234"
    assert carrel.download(library, "/a/small.txt", start=8).read() == b"89"
    assert carrel.download(library, "/empty").read() == b""
    with carrel.download(library, "/large.bin") as unread:
        assert unread.size == LARGE
    target = local.parent / "downloaded.bin"
    counts: list[int] = []
    assert carrel.download_to(library, "/large.bin", target, on_progress=lambda got, _: counts.append(got)) == LARGE
    assert hashlib.sha256(target.read_bytes()).digest() == hashlib.sha256(large).digest()
    assert counts[-1] == LARGE and [file.name for file in local.parent.glob(".*")] == []
    done("downloaded ranges and a whole file")

    class Stopped(Exception):
        pass

    def stop(sent: int, total: int) -> None:
        if sent > 9_000_000:
            raise Stopped

    try:
        carrel.upload(library, "/", local / "large.bin", name="continued.bin", on_progress=stop)
        raise AssertionError("The upload was not stopped")
    except Stopped:
        pass
    counts.clear()
    continued = carrel.upload(
        library,
        "/",
        local / "large.bin",
        name="continued.bin",
        resume=True,
        on_progress=lambda sent, _: counts.append(sent),
    )
    assert continued.size == LARGE and counts[0] == 8_000_000, counts[:3]
    assert carrel.download(library, "/continued.bin").read() == large
    done("continued an interrupted upload")

    kept = carrel.upload(library, "/a", b"other", name="small.txt", replace=False)
    assert kept.name == "small (1).txt", kept
    done("kept a file of the same name")


def edits(carrel: Carrel, library: str) -> None:
    carrel.v21.post_repo_file(library, p="/a/small.txt", operation="rename", newname="renamed.txt")
    assert carrel.v21.get_repo_file(library, p="/a/renamed.txt")["obj_name"] == "renamed.txt"
    carrel.v21.post_repo_dir(library, p="/new", operation="mkdir")
    assert dict(carrel.walk(library))["/new"]["type"] == "dir"
    done("renamed a file and created a folder")

    carrel.upload(library, "/a", b"second content", name="renamed.txt")
    revisions = carrel.v21.get_repo_file_history(library, path="/a/renamed.txt")["data"]
    assert [revision["size"] for revision in revisions][:2] == [14, 10], revisions
    before = revisions[1]["commit_id"]
    assert carrel.download(library, revisions[1]["path"], commit_id=before).read() == b"0123456789"
    assert len(carrel.v21.get_repo_history(library)["data"]) > 4
    done("read an old revision from the history")

    carrel.v2.delete_repo_file(library, p="/a/renamed.txt")
    [deleted] = carrel.v21.get_repo_trash(library)["data"]
    assert (deleted["parent_dir"], deleted["obj_name"]) == ("/a/", "renamed.txt"), deleted
    restored = carrel.v21.post_repo_trash_revert_dirents(
        library, path=["/a/renamed.txt"], commit_id=deleted["commit_id"]
    )
    assert restored["failed"] == [] and len(restored["success"]) == 1, restored
    assert carrel.download(library, "/a/renamed.txt").read() == b"second content"
    done("restored a file from the trash")


def rights(carrel: Carrel, other: Carrel, other_email: str, library: str, url: str) -> None:
    refused(ForbiddenError, 403, lambda: other.v21.get_repo_dir(library))
    carrel.v2.put_repo_dir_shared_items(library, p="/", share_type="user", username=[other_email], permission="r")
    assert "/a/renamed.txt" in dict(other.walk(library))
    refused(ForbiddenError, 403, lambda: other.upload(library, "/", b"", name="no.txt"))
    refused(ForbiddenError, 403, lambda: other.v2.delete_repo_file(library, p="/a/renamed.txt"))
    done("shared a library to read")

    link = carrel.v21.post_share_links(repo_id=library, path="/a/renamed.txt", description="from Python")
    assert [found["token"] for found in carrel.v21.get_share_links(repo_id=library)] == [link["token"]]
    refused(InvalidRequestError, 400, lambda: carrel.v21.post_share_links(repo_id=library, path="/a/renamed.txt"))
    assert carrel.v21.post_upload_links(repo_id=library, path="/new")["link"].startswith("http")
    carrel.v21.delete_share_link(link["token"])
    assert carrel.v21.get_share_links(repo_id=library) == []
    done("created and deleted links")

    personal = carrel.v21.post_personal_tokens(name="reader", permission="r")["token"]
    reader = connect(url, personal)
    assert "/a/renamed.txt" in dict(reader.walk(library))
    refused(ForbiddenError, 403, lambda: reader.v2.delete_repo_file(library, p="/a/renamed.txt"))
    app = connect(url, carrel.v21.post_repo_repo_api_tokens(library, app_name="app", permission="r")["api_token"])
    names = [entry["name"] for entry in app.repo_token.get_dir(path="/")["dirent_list"]]
    assert "a" in names, names
    done("used a personal token and the token of a library")

    group = carrel.v21.post_groups(name="Python people")
    carrel.v21.post_group_members(group["id"], email=other_email)
    assert len(carrel.v21.get_group_members(group["id"])) == 2
    assert carrel.v21.post_user_avatar(avatar=FileContent("me.png", PIXEL))["avatar_url"].startswith("http")
    done("created a group and sent a picture in a form")


def errors(carrel: Carrel, library: str, url: str, email: str) -> None:
    nowhere = "00000000-0000-4000-8000-000000000000"
    refused(UnauthorizedError, 401, lambda: connect(url, "0" * 40).v2.get_account_info())
    refused(UnauthorizedError, 400, lambda: Carrel.sign_in(url, email, "wrong"))
    refused(ForbiddenError, 403, lambda: connect(url).v2.get_account_info())
    refused(NotFoundError, 404, lambda: carrel.v21.get_repo_dir(nowhere))
    refused(NotFoundError, 404, lambda: carrel.download(library, "/nothing.txt"))
    refused(NotFoundError, 404, lambda: carrel.v21.get_repo_dir(library, p="/nothing"))
    refused(
        InvalidRequestError,
        400,
        lambda: carrel.v21.post_repo_file(library, p="/a/renamed.txt", operation="rename", newname="a/b"),
    )
    refused(
        ConflictError,
        409,
        lambda: carrel.v2.post_repo_file(library, p="/a/renamed.txt", operation="rename", newname="renamed.txt"),
    )
    refused(UnreachableError, 0, lambda: Carrel("http://127.0.0.1:1", max_attempts=1).v2.get_ping())
    for wrong in ("ftp://example.org", "example.org", "http://", "http://a:b"):
        try:
            Carrel(wrong)
            raise AssertionError("The URL was accepted")
        except ValueError:
            pass
    done("was refused in every way")


def main() -> None:
    url, email, other_email, password, folder = sys.argv[1:]
    carrel = connect(url, Carrel.sign_in(url, email, password))
    other = connect(url, Carrel.sign_in(url, other_email, password))
    done("signed in")
    library = carrel.v2.post_repos(name="Python")["repo_id"]
    transfers(carrel, library, Path(folder) / "tree")
    edits(carrel, library)
    rights(carrel, other, other_email, library, url)
    errors(carrel, library, url, email)
    carrel.sign_out()
    refused(UnauthorizedError, 401, lambda: carrel.v2.get_account_info())
    done("signed out")
    print(f"{steps} steps")


main()
