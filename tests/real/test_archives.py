"""Archives: what of them is read, what is passed over, and that none can take more than its share."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from scheduler_core.apimachinery.objects.loading import LoadLimits
from scheduler_core.formats.manifests import NotObjects, pack_files, read
from scheduler_core.formats.manifests.archives import Budget, unpack

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: default}\nspec: {containers: []}\n"
NODE = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
FILES = {"dump/pods.yaml": POD, "dump/nodes.json": NODE, "dump/default/a/logs.txt": "started\n" * 50}
Pack = Callable[[dict[str, str]], bytes]


def tar(files: dict[str, str], mode: str = "w") -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return whole.getvalue()


def tar_gz(files: dict[str, str]) -> bytes:
    return tar(files, "w:gz")


def zipped(files: dict[str, str]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return whole.getvalue()


def names(data: bytes) -> list[str]:
    return [f"{each.manifest['kind']} {each.manifest['metadata']['name']}" for each in read(data).objects]


def said(data: bytes) -> str:
    return " ".join(str(note) for note in read(data).notes)


@pytest.mark.parametrize("pack", [tar, tar_gz, zipped])
def test_an_archive_gives_its_objects_and_counts_what_it_passed_over(pack: Pack) -> None:
    assert names(pack(FILES)) == ["Pod a", "Node n"]
    assert "Read from the archive. Files: 2. Documents: 2. Skipped files, such as logs: 1." in said(pack(FILES))


def test_objects_of_an_archive_know_their_file_and_line() -> None:
    pod = read(tar_gz(FILES)).objects[0]
    assert (pod.file, pod.locate("spec.containers"), pod.index) == ("dump/pods.yaml", (4, 8), 0)


def test_one_packed_file() -> None:
    assert names(gzip.compress(POD.encode())) == ["Pod a"]


def test_an_archive_within_an_archive() -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("must-gather.tar.gz", tar_gz(FILES))
    assert names(inner.getvalue()) == ["Pod a", "Node n"]


def test_several_uploaded_files_one_of_them_an_archive() -> None:
    assert names(pack_files([("bundle.tgz", tar_gz({"p.yaml": POD})), ("n.json", NODE.encode())])) == [
        "Pod a",
        "Node n",
    ]


def test_a_must_gather() -> None:
    base = "must-gather.local.1/quay-io-x-sha256-1"
    pods = {
        "kind": "PodList",
        "apiVersion": "v1",
        "items": [{"metadata": {"name": "a", "namespace": "shop", "uid": "u"}}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop", "uid": "u"}}
    files = {
        f"{base}/cluster-scoped-resources/core/nodes/n.yaml": NODE,
        f"{base}/namespaces/shop/core/pods.yaml": json.dumps(pods),
        f"{base}/namespaces/shop/pods/a/a.yaml": json.dumps(pod),
        f"{base}/namespaces/shop/pods/a/c/c/logs/current.log": "x",
        f"{base}/event-filter.html": "<html></html>",
        "must-gather.local.1/timestamp": "now",
    }
    assert names(tar_gz(files)) == ["Node n", "Pod a"]
    assert "more than once" in said(tar_gz(files))


def test_a_support_bundle_whose_objects_leave_their_kind_to_the_file() -> None:
    def bare(name: str) -> dict[str, Any]:
        return {"metadata": {"name": name}}

    files = {
        "bundle/cluster-resources/nodes.json": [bare("n")],
        "bundle/cluster-resources/pods/default.json": {"kind": "PodList", "apiVersion": "v1", "items": [bare("a")]},
        "bundle/cluster-resources/pvcs/default.json": [bare("data")],
        "bundle/cluster-resources/storage-classes.json": {"items": [bare("fast")]},
        "bundle/cluster-resources/statefulsets/default.json": [bare("db")],
    }
    data = tar_gz({name: json.dumps(value) for name, value in files.items()})
    kinds = [(each.manifest["apiVersion"], each.manifest["kind"]) for each in read(data).objects]
    assert kinds == [
        ("v1", "Node"),
        ("v1", "Pod"),
        ("v1", "PersistentVolumeClaim"),
        ("storage.k8s.io/v1", "StorageClass"),
        ("apps/v1", "StatefulSet"),
    ]


def test_files_that_cannot_be_read_are_passed_over_by_name() -> None:
    data = zipped({"bad.yaml": "a: [", "chart/templates/x.yaml": "a: {{ .Values.x }}", "p.yaml": POD})
    assert names(data) == ["Pod a"]
    assert "bad.yaml was skipped: not readable as YAML" in said(data)
    assert "chart/templates/x.yaml was skipped: This is a template of a Helm chart" in said(data)


@pytest.mark.parametrize("name", ["../../etc/pods.yaml", "/etc/pods.yaml", "__MACOSX/._pods.yaml", "a/._pods.yaml"])
def test_names_that_lead_elsewhere_are_passed_over(name: str) -> None:
    assert names(zipped({name: POD, "n.json": NODE})) == ["Node n"]
    assert names(tar({name: POD, "n.json": NODE})) == ["Node n"]


def test_links_are_not_followed() -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("pods.yaml")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        member = tarfile.TarInfo("n.json")
        member.size = len(NODE)
        archive.addfile(member, io.BytesIO(NODE.encode()))
    assert names(whole.getvalue()) == ["Node n"]
    assert "Links in the archive are not followed. Skipped: 3" in said(whole.getvalue())
    linked = zipfile.ZipInfo("pods.yaml")
    linked.external_attr = 0o120777 << 16
    packed_up = io.BytesIO()
    with zipfile.ZipFile(packed_up, "w") as archive_:
        archive_.writestr(linked, "/etc/passwd")
        archive_.writestr("n.json", NODE)
    assert names(packed_up.getvalue()) == ["Node n"]


@pytest.mark.parametrize("pack", [tar_gz, zipped])
def test_what_unpacks_to_too_much_is_refused(pack: Pack) -> None:
    data = pack({"pods.yaml": "#" * 3_000_000})
    assert len(data) < 10_000
    with pytest.raises(NotObjects, match="unpacked archive is too large"):
        read(data, LoadLimits(max_bytes=1_000_000))


def test_what_is_passed_over_is_measured_too() -> None:
    with pytest.raises(NotObjects, match="unpacked archive is too large"):
        unpack(tar_gz({"logs.txt": "x" * 3_000_000}), Budget(kept=1_000_000, passed=1_000_000))


def test_a_header_cannot_be_as_long_as_it_likes() -> None:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x" * 3_000_000}):
        pass
    with pytest.raises(NotObjects, match="unpacked archive is too large"):
        read(whole.getvalue())


@pytest.mark.parametrize("pack", [tar, zipped])
def test_too_many_members_are_refused(pack: Pack) -> None:
    data = pack({f"{number}.txt": "" for number in range(30)})
    with pytest.raises(NotObjects, match="too many members"):
        unpack(data, Budget(kept=1_000, members=20))


@pytest.mark.parametrize("data", [tar_gz(FILES)[:200], zipped(FILES)[:200], b"PK\x03\x04 and no more", b"\x1f\x8b\x00"])
def test_a_damaged_archive_is_refused(data: bytes) -> None:
    with pytest.raises(NotObjects, match="damaged or truncated"):
        read(data)


def test_other_formats_say_how_they_are_unpacked() -> None:
    with pytest.raises(NotObjects, match="zstd -d"):
        read(b"\x28\xb5\x2f\xfd and so on")


def test_an_archive_without_objects_says_so() -> None:
    with pytest.raises(NotObjects, match="contains no YAML or JSON with objects"):
        read(tar_gz({"logs.txt": "x"}))


def test_a_trace_of_simkube_as_it_is_written() -> None:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "default"}}
    events = [{"ts": 1, "applied_objs": [deployment], "deleted_objs": []}]
    trace = {
        "version": 2,
        "config": {},
        "events": events,
        "index": {},
        "pod_lifecycles": {("apps/v1.Deployment", "default/d"): {7: []}},
    }
    assert names(msgspec.msgpack.encode(trace)) == ["Deployment d"]
    assert "A trace of SimKube" in said(msgspec.msgpack.encode(trace))


@pytest.mark.parametrize("version", [1, 3])
def test_a_trace_of_another_version_is_refused(version: int) -> None:
    with pytest.raises(NotObjects, match="nor a trace of SimKube version 2"):
        read(msgspec.msgpack.encode({"version": version, "events": []}))
