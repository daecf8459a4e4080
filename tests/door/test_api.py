"""A session's API server over HTTP: keys, media types, watches, the past, and what a stranger may send."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.browser.server import PlaygroundServer
from tests.door.transcripts import delete_session, new_session

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
MAP = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    server = PlaygroundServer(tmp_path_factory.mktemp("api"), ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.start()
    yield server
    server.stop()


class Client:
    """Asks the API server of one key."""

    def __init__(self, server: PlaygroundServer, key: str) -> None:
        self.key = key
        self._host = urlsplit(server.url).netloc

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, body, headers."""
        connection = http.client.HTTPConnection(self._host, timeout=60)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, f"/s/{self.key}/k8s{path}", data, sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(text), dict(answer.getheaders())
        except ValueError:
            return answer.status, text, dict(answer.getheaders())

    def watch(self, path: str) -> list[dict[str, Any]]:
        """All events of a watch that ends by itself."""
        _, text, _ = self.ask("GET", path)
        lines = [text] if isinstance(text, dict) else [json.loads(line) for line in text.splitlines()]
        return lines


@pytest.fixture(scope="module")
def client(server: PlaygroundServer) -> Client:
    return Client(server, new_session(server.url, live="1", kubelet="runs"))


@pytest.fixture(scope="module")
def viewer(server: PlaygroundServer, client: Client) -> Client:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", f"/s/{client.key}/session")
    page = connection.getresponse().read().decode()
    key = next(part for part in page.split("/s/")[1:] if not part.startswith(client.key)).split("/")[0].split('"')[0]
    return Client(server, key)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_a_write_is_one_command_of_the_log_with_who_and_what(server: PlaygroundServer, client: Client) -> None:
    agent = {"User_Agent": "kubectl/v1.34.2", "Kubectl_Command": "kubectl apply"}
    assert client.ask("POST", MAP, config_map("logged", a="1"), **agent)[0] == 201
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request("GET", f"/s/{client.key}/commands")
    page = connection.getresponse().read().decode()
    assert "kubectl apply creates configmaps logged" in page


def test_a_write_without_a_change_keeps_the_version(client: Client) -> None:
    before = client.ask("POST", MAP, config_map("same", a="1"))[1]
    code, after, _ = client.ask("PUT", f"{MAP}/same", config_map("same", a="1"))
    assert (code, after["metadata"]["resourceVersion"]) == (200, before["metadata"]["resourceVersion"])


def test_a_dry_run_stores_nothing(client: Client) -> None:
    code, made, _ = client.ask("POST", f"{MAP}?dryRun=All", config_map("dry"))
    assert code == 201 and "resourceVersion" not in made["metadata"]
    assert client.ask("GET", f"{MAP}/dry")[0] == 404
    client.ask("POST", MAP, config_map("wet"))
    assert client.ask("DELETE", f"{MAP}/wet", {"kind": "DeleteOptions", "dryRun": ["All"]})[0] == 200
    assert client.ask("GET", f"{MAP}/wet")[0] == 200


def test_a_view_key_reads_and_never_writes(viewer: Client) -> None:
    assert viewer.ask("GET", MAP)[0] == 200
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for path in (MAP, f"{MAP}/logged", "/api/v1/nodes/x", "/api/v1/namespaces/default/pods/x/eviction"):
            code, status, _ = viewer.ask(method, path, config_map("logged"))
            assert (code, status["reason"]) == (403, "Forbidden")
    review = {"spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert viewer.ask("POST", path, review)[1]["status"] == {"allowed": False}


def test_nothing_works_without_a_key(server: PlaygroundServer) -> None:
    stranger = Client(server, "nobody")
    for path in ("/api", "/version", MAP, "/openapi/v3"):
        code, status, _ = stranger.ask("GET", path)
        assert (code, status["reason"]) == (401, "Unauthorized")


def test_a_watch_sees_what_happens_until_its_time_is_over(client: Client) -> None:
    version = client.ask("GET", MAP)[1]["metadata"]["resourceVersion"]

    def write() -> None:
        time.sleep(0.3)
        client.ask("POST", MAP, config_map("seen", a="1"))
        client.ask("PATCH", f"{MAP}/seen", {"data": {"a": "2"}}, Content_Type="application/merge-patch+json")
        client.ask("DELETE", f"{MAP}/seen")

    writing = threading.Thread(target=write)
    writing.start()
    selector = quote("metadata.name=seen")
    events = client.watch(f"{MAP}?watch=true&resourceVersion={version}&timeoutSeconds=3&fieldSelector={selector}")
    writing.join()
    assert [each["type"] for each in events] == ["ADDED", "MODIFIED", "DELETED"]
    again = client.watch(f"{MAP}?watch=true&resourceVersion={version}&timeoutSeconds=1&fieldSelector={selector}")
    assert [each["type"] for each in again] == ["ADDED", "MODIFIED", "DELETED"]


def test_writes_that_come_together_are_each_answered_and_seen_once_in_the_order_of_their_versions(
    client: Client,
) -> None:
    version = client.ask("GET", MAP)[1]["metadata"]["resourceVersion"]
    found: list[tuple[int, Any]] = []

    def write(number: int) -> None:
        found.extend(client.ask("POST", MAP, config_map(name))[:2] for name in ("once", f"own-{number}"))

    writing = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for each in writing:
        each.start()
    for each in writing:
        each.join()
    assert sorted(code for code, _ in found) == [201] * 21 + [409] * 19
    made = {body["metadata"]["name"]: int(body["metadata"]["resourceVersion"]) for code, body in found if code == 201}
    events = client.watch(f"{MAP}?watch=true&resourceVersion={version}&timeoutSeconds=1")
    seen = [(each["object"]["metadata"]["name"], int(each["object"]["metadata"]["resourceVersion"])) for each in events]
    assert seen == sorted(made.items(), key=lambda item: item[1])


def test_the_key_of_a_deleted_session_opens_nothing_at_once(server: PlaygroundServer) -> None:
    client = Client(server, new_session(server.url))
    assert client.ask("GET", MAP)[0] == 200
    delete_session(server.url, client.key)
    assert client.ask("GET", MAP)[0] == 401


def test_a_watch_may_begin_with_all_objects_and_a_bookmark(client: Client) -> None:
    query = (
        "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
    )
    events = client.watch(f"/api/v1/namespaces?{query}")
    assert [each["type"] for each in events] == [*["ADDED"] * 4, "BOOKMARK"]
    assert events[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_the_past_is_read_and_not_written(client: Client) -> None:
    assert client.ask("GET", f"{MAP}/logged?at=1")[0] == 404
    assert client.ask("POST", f"{MAP}?at=1", config_map("late"))[0] == 400


def test_lists_page_and_tell_what_is_left(client: Client) -> None:
    _, first, _ = client.ask("GET", "/api/v1/namespaces?limit=3")
    assert (len(first["items"]), first["metadata"]["remainingItemCount"]) == (3, 1)
    _, rest, _ = client.ask("GET", f"/api/v1/namespaces?limit=3&continue={first['metadata']['continue']}")
    names = [each["metadata"]["name"] for each in first["items"] + rest["items"]]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]


def test_media_types_are_negotiated(client: Client) -> None:
    assert client.ask("GET", MAP, Accept="text/html")[0] == 406
    assert client.ask("GET", f"{MAP}/logged", Accept="application/yaml")[1].startswith(b"apiVersion: v1")
    assert client.ask("POST", MAP, b"x", Content_Type="text/plain")[0] == 415
    made = client.ask("POST", MAP, b"metadata: {name: yam}\n", Content_Type="application/yaml")
    assert made[0] == 201


def test_discovery_has_a_tag(client: Client) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    code, found, headers = client.ask("GET", "/apis", Accept=accept)
    assert (code, found["kind"]) == (200, "APIGroupDiscoveryList")
    assert client.ask("GET", "/apis", Accept=accept, If_None_Match=headers["ETag"])[0] == 304


def test_documents_named_by_their_hash_may_be_kept(client: Client) -> None:
    place = client.ask("GET", "/openapi/v3")[1]["paths"]["api/v1"]["serverRelativeURL"].partition("/k8s")[2]
    _, _, headers = client.ask("GET", place)
    assert (headers["Cache-Control"], headers["ETag"].strip('"')) == ("private, immutable", place.partition("hash=")[2])
    assert client.ask("GET", "/openapi/v3/api/v1")[2]["Cache-Control"] == "private, no-cache"
    # A client's cache takes the headers of this answer over: another type would make JSON unreadable.
    code, _, again = client.ask("GET", place, If_None_Match=headers["ETag"])
    assert (code, again["Content-Type"]) == (304, "application/json")


PATHS = [
    "/api", "/apis", "/api/v1/nodes", "/api/v1/pods", MAP, f"{MAP}/logged", "/api/v1/namespaces/default/pods/p/{sub}",
    "/apis/apps/v1/namespaces/default/deployments/d/{sub}", "/apis/apps/v1/deployments", "/apis/{odd}/v1/x", "/openapi/v3/{odd}",
    "/api/v1/namespaces/{odd}/pods", "/apis/events.k8s.io/v1/namespaces/default/events", "/{odd}",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
]  # fmt: skip
ODD = [
    "",
    "x",
    "-1",
    "null",
    "%00",
    "..",
    "a/b",
    "é",
    "1" * 300,
    "{}",
    "[]",
    "true",
    "status.phase=x",
    "in (",
    "a in (b",
]
TYPES = [
    "application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/json-patch+json",
    "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml", "x",
]  # fmt: skip
QUERIES = [
    "limit",
    "continue",
    "resourceVersion",
    "labelSelector",
    "fieldSelector",
    "dryRun",
    "fieldManager",
    "force",
    "at",
    "pretty",
]


def make_value(draw: random.Random, depth: int = 0) -> Any:
    """Some JSON data, of names that objects have."""
    kind = draw.randrange(8 if depth < 4 else 5)
    if kind < 5:
        return draw.choice([None, 0, -1, 1.5, True, "", "x", "1", "default", 10**30])
    if kind == 5:
        return [make_value(draw, depth + 1) for _ in range(draw.randrange(3))]
    names = ["metadata", "name", "namespace", "spec", "status", "labels", "kind", "apiVersion", "template", "containers", "op",
             "path", "value", "$patch", "data", "target", "replicas", "versions", "group", "names", "selector", "uid"]  # fmt: skip
    return {draw.choice(names): make_value(draw, depth + 1) for _ in range(draw.randrange(6))}


def make_body(draw: random.Random) -> bytes | None:
    kind = draw.randrange(5)
    if kind == 0:
        return None
    if kind == 1:
        return bytes(draw.randrange(256) for _ in range(draw.randrange(60)))
    if kind == 2:
        return b"k8s\0" + bytes(draw.randrange(256) for _ in range(draw.randrange(60)))
    return json.dumps(make_value(draw)).encode()


def test_no_request_ends_in_an_error_of_the_server(client: Client) -> None:
    draw = random.Random(7)
    failed = []
    for _ in range(10_000 if LONG else 500):
        subresource = draw.choice(["status", "scale", "log", "exec", "binding", "eviction", "resize", "x"])
        path = draw.choice(PATHS).replace("{sub}", subresource).replace("{odd}", quote(draw.choice(ODD), safe=""))
        query = "&".join(f"{draw.choice(QUERIES)}={quote(draw.choice(ODD))}" for _ in range(draw.randrange(3)))
        method, body = draw.choice(["GET", "GET", "POST", "PUT", "PATCH", "DELETE"]), make_body(draw)
        code, answer, _ = client.ask(method, f"{path}?{query}", body, Content_Type=draw.choice(TYPES))
        if code == 500:
            failed.append((method, path, query, body, answer))
    assert failed == []
    assert client.ask("GET", "/readyz")[0] == 200


def test_the_first_read_of_a_live_session_that_slept_has_the_state_of_now(tmp_path: Path) -> None:
    server = PlaygroundServer(tmp_path, ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.start()
    try:
        client, jobs = Client(server, new_session(server.url, live="1")), "/apis/batch/v1/namespaces/default/jobs"
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}}
        spec = {"template": template, "activeDeadlineSeconds": 2}
        assert client.ask("POST", jobs, {"kind": "Job", "metadata": {"name": "j"}, "spec": spec})[0] == 201
        deadline = time.monotonic() + 20
        while not client.ask("GET", f"{jobs}/j")[1].get("status", {}).get("startTime"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        server.stop()
        time.sleep(2)
        server.start()
        status = client.ask("GET", f"{jobs}/j")[1]["status"]
        assert ("Failed", "DeadlineExceeded") in [(each["type"], each["reason"]) for each in status["conditions"]]
    finally:
        server.stop()


def test_a_watch_that_nobody_reads_is_closed_and_others_see_everything(
    server: PlaygroundServer, client: Client
) -> None:
    versions = [client.ask("POST", MAP, config_map("large", a="x" * 900_000))[1]["metadata"]["resourceVersion"]]
    path = f"{MAP}?watch=1&fieldSelector=metadata.name%3Dlarge&resourceVersion={versions[0]}"
    parts = urlsplit(server.url)
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
    deaf.connect((parts.hostname, parts.port))
    deaf.sendall(f"GET /s/{client.key}/k8s{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    deaf.recv(16)
    seen: list[dict[str, Any]] = []
    other = threading.Thread(target=lambda: seen.extend(client.watch(f"{path}&timeoutSeconds=15")))
    other.start()
    for number in range(30):
        patch = {"metadata": {"labels": {"number": str(number)}}}
        made = client.ask("PATCH", f"{MAP}/large", patch, Content_Type="application/merge-patch+json")[1]
        versions.append(made["metadata"]["resourceVersion"])
    deaf.settimeout(30)
    read = 0
    with contextlib.suppress(ConnectionResetError):
        while data := deaf.recv(1 << 20):
            read += len(data)
    assert read < 30 * 900_000
    other.join()
    assert [each["object"]["metadata"]["resourceVersion"] for each in seen] == versions[1:]
