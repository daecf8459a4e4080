"""Credentials of an import are nowhere in the database: not in a preview, not in the log, not in what is exported."""

from __future__ import annotations

import zlib

import yaml
from django.apps import apps

from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_import import begun  # noqa: F401

WORDS = ("hunter2", "aHVudGVyMg", "AKIAIOSFODNN7EXAMPLE", "s3cr3t-dsn", "in-managed", "tok-123")
CONTAINER = {
    "name": "c",
    "image": "app:v1",
    "env": [
        {"name": "DB_PASSWORD", "value": "hunter2"},
        {"name": "AWS", "value": "AKIAIOSFODNN7EXAMPLE"},
        {"name": "URL", "value": "postgres://me:s3cr3t-dsn@db/x"},
        {"name": "LEVEL", "value": "debug-me"},
    ],
    "args": ["--token", "tok-123", "--token-file=/etc/t"],
}
APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": '{"env": "hunter2"}'}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "default",
        "annotations": APPLIED,
        "managedFields": [{"manager": "in-managed"}],
    },
    "spec": {"containers": [CONTAINER]},
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "default"},
    "data": {"password": "aHVudGVyMg"},
}


def everything_kept() -> bytes:
    """All of the database, with what is compressed in it."""
    kept = b""
    for model in apps.get_app_config("playground").get_models():
        for row in model.objects.values():
            for value in row.values():
                data = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
                kept += data + b"\n" + _unpacked(data)
    return kept


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return b""


def test_no_credential_is_kept_anywhere(begun):  # noqa: F811
    answer = begun.post("import", text=yaml.safe_dump_all([POD, SECRET]))
    shown = begun.browser.get(answer["Location"])
    assert "credentials were removed on import" in page_text(shown)
    kept = everything_kept()
    assert b"debug-me" in kept
    assert [word for word in WORDS if word.encode() in kept] == []
    begun.post("import/apply", token=shown.context["plan"]["token"])
    assert b"/etc/t" in everything_kept()
    assert [word for word in WORDS if word.encode() in everything_kept()] == []
    assert begun.manifest("Pod", "p")["spec"]["containers"][0]["env"][3]["value"] == "debug-me"


def test_the_editor_says_what_it_did_not_keep(begun):  # noqa: F811
    answer = begun.browser.post(f"{begun.url}yaml", {"text": yaml.safe_dump_all([POD, SECRET])}, follow=True)
    assert "4 values that look like credentials were replaced by “(removed)”." in page_text(answer)
    assert "The data of 1 Secret was removed." in page_text(answer)
    assert [word for word in WORDS if word.encode() in everything_kept()] == []


def test_the_editor_says_nothing_of_credentials_where_there_are_none(begun):  # noqa: F811
    plain = {**POD, "spec": {"containers": [{"name": "c", "image": "app:v1"}]}}
    answer = begun.browser.post(f"{begun.url}yaml", {"text": yaml.safe_dump(plain)}, follow=True)
    assert "1 object applied" in page_text(answer)
    assert "not kept" not in page_text(answer)


def test_what_is_missing_stands_with_its_command(begun):  # noqa: F811
    claim = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    pod = {**POD, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": claim}}
    shown = page_text(begun.browser.get(begun.post("import", text=yaml.safe_dump(pod))["Location"]))
    assert "kubectl get persistentvolumeclaims data -n default -o yaml" in shown
