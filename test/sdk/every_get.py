"""Calls every GET operation whose arguments can be known, and compares the results with their declared types."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any, get_type_hints

from carrel_client import Carrel, CarrelError, Download
from declared_types import mismatches

#: Further arguments, without which a call is refused.
FURTHER: dict[str, dict[str, object]] = {
    "v2.get_repo_dir_sub_repo": {"p": "/folder", "name": "folder"},
    "v2.get_repo_file_revision": {"commit_id": "the commit"},
    "v2.get_repo_history_change": {"commit_id": "the commit"},
    "v2.get_repo_thumbnail": {"size": "48"},
    "v2.get_repo_tokens": {"repos": "the library"},
    "v2.get_search_user": {"q": "admin"},
    "v21.get_group_search_member": {"q": "admin"},
    "v21.get_repo_dir_detail": {"path": "/folder"},
    "v21.get_repo_file_shared_items": {"p": "/folder/file.txt"},
    "v21.get_search_file": {"repo_id": "the library", "q": "file"},
    "v21.get_search_group": {"q": "every"},
    "v21.get_smart_link": {"repo_id": "the library"},
    "v21.get_upload_link": {"token": "the upload link"},
    "v21.get_upload_link_upload": {"token": "the upload link"},
    "admin.get_upload_link": {"token": "the upload link"},
}

#: Streams of events have no end.
ENDLESS = {"get_events"}


def prepared(carrel: Carrel, email: str) -> dict[str, object]:
    """Creates something of each kind. Returns values for required arguments, by name."""
    library = carrel.v2.post_repos(name="Everything")["repo_id"]
    carrel.upload(library, "/folder", b"some text", name="file.txt")
    link = carrel.v21.post_share_links(repo_id=library, path="/folder")
    upload_link = carrel.v21.post_upload_links(repo_id=library, path="/folder")
    group = carrel.v21.post_groups(name="Everybody")
    carrel.v21.post_starred_items(repo_id=library, path="/folder/file.txt")
    carrel.v2.post_repo_file_comments(library, p="/folder/file.txt", comment="A comment")
    commit = carrel.v21.get_repo_history(library)["data"][0]["commit_id"]
    return {
        "repo_id": library,
        "p": "/folder/file.txt",
        "path": "/folder/file.txt",
        "file_path": "/folder/file.txt",
        "parent_dir": "/folder",
        "file_name": "file.txt",
        "dirents": ["file.txt"],
        "name": "folder",
        "token": link["token"],
        "share_link_token": link["token"],
        "group_id": group["id"],
        "email": email,
        "size": 32,
        "commit_id": commit,
        "q": "file",
        "query": "e",
        "is_dir": False,
        "the commit": commit,
        "the library": library,
        "the upload link": upload_link["token"],
    }


def main() -> None:
    url, email, password = sys.argv[1:]
    carrel = Carrel(url, Carrel.sign_in(url, email, password), max_attempts=1)
    known = prepared(carrel, email)
    report: dict[str, list[str]] = {"matching": [], "different": [], "refused": [], "skipped": []}
    groups: tuple[tuple[str, object], ...] = (("v2", carrel.v2), ("v21", carrel.v21), ("admin", carrel.admin))
    for area, calls in groups:
        for name, call in inspect.getmembers(calls, inspect.ismethod):
            if not name.startswith("get_") or name in ENDLESS:
                continue
            label = f"{area}.{name}"
            required = [
                argument.name
                for argument in inspect.signature(call).parameters.values()
                if argument.default is inspect.Parameter.empty
            ]
            if not all(argument in known for argument in required):
                report["skipped"].append(label)
                continue
            declared: Any = get_type_hints(call)["return"]
            passed = {argument: known[argument] for argument in required}
            for argument, value in FURTHER.get(label, {}).items():
                passed[argument] = known[value] if isinstance(value, str) and value in known else value
            try:
                result: object = call(**passed)
            except CarrelError as error:
                # Some of them are about something that was not created.
                assert 400 <= error.status < 500, f"{label}: {error.status} {error.message}"
                report["refused"].append(f"{label}: {error.status} {error.message}")
                continue
            if isinstance(result, Download):
                result.close()
            found = [] if declared is Download else list(mismatches(result, declared, label))
            report["different" if found else "matching"].extend(found or [label])
    print(json.dumps(report))


main()
