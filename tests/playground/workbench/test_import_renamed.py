"""A renamed import: the names are told once, in the answer, and no former one is in the database."""

from __future__ import annotations

import json
import re

from django.core.files.uploadedfile import SimpleUploadedFile

from playground.models import Session
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_import import begun  # noqa: F401
from tests.playground.workbench.test_import_credentials import everything_kept

OLD = ("acme", "payments", "ledger", "vault", "frankfurt", "topsecret", "10.9.8.7")
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "acme-10-9-8-7.frankfurt",
        "labels": {"kubernetes.io/hostname": "acme-10-9-8-7", "acme.com/room": "vault"},
    },
    "status": {
        "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"},
        "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}],
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "ledger-0",
        "namespace": "payments",
        "labels": {"app": "ledger"},
        "annotations": {"acme.com/note": "topsecret"},
    },
    "spec": {
        "nodeSelector": {"acme.com/room": "vault"},
        "containers": [
            {
                "name": "ledger",
                "image": "registry.acme.com/payments/ledger:v7",
                "args": ["--for=topsecret"],
                "env": [{"name": "TEAM", "value": "payments"}],
                "resources": {"requests": {"cpu": "10x"}},
            }
        ],
    },
    "status": {"message": "topsecret"},
}
CONFIGMAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "ledger", "namespace": "payments"},
    "data": {"a": "topsecret"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "payments"}}
GOOD = {
    **POD,
    "metadata": {**POD["metadata"], "name": "ledger-1"},
    "spec": {**POD["spec"], "containers": [{"name": "ledger", "image": "ledger"}]},
}


def uploaded():
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, NAMESPACE, POD, GOOD, CONFIGMAP]})
    return SimpleUploadedFile("acme-payments.json", text.encode())


def names_of(answer):
    table = re.search(r"<textarea[^>]*>(.*?)</textarea>", answer.content.decode(), re.DOTALL)[1]
    return dict(line.split(",", 1) for line in table.strip().splitlines()[1:])


def kept_of_old():
    kept = everything_kept()
    return [name for name in OLD if name.encode() in kept]


def test_no_former_name_is_kept_and_the_names_are_told_once(begun):  # noqa: F811
    answer = begun.post("import", file=uploaded(), rename="yes")
    assert answer.status_code == 200, page_text(answer)
    assert answer["Cache-Control"] == "no-store"
    names = names_of(answer)
    assert names["acme-10-9-8-7.frankfurt"] == "node-2"
    assert names["registry.acme.com/payments/ledger:v7"].count("/") == 2
    assert kept_of_old() == []
    address = re.search(r'href="([^"]*token=[^"]*)"', answer.content.decode())[1].replace("&amp;", "&")
    shown = begun.browser.get(address)
    assert "All names are replaced" in page_text(shown)
    assert "1 object of a kind that affects no decision" in page_text(shown)
    assert [name for name in OLD if name in page_text(shown)] == []
    begun.post("import/apply", token=shown.context["plan"]["token"])
    assert kept_of_old() == []
    pod = begun.manifest("Pod", names["ledger-1"], names["payments"])
    assert pod["metadata"]["labels"] == {names["app"]: names["ledger"]}
    assert "args" not in pod["spec"]["containers"][0]


def test_without_the_wish_names_stay(begun):  # noqa: F811
    assert begun.post("import", file=uploaded()).status_code == 302
    assert "ledger" in kept_of_old()


def test_a_session_that_begins_with_a_renamed_import_is_not_named_as_the_file(client, transactional_db):
    answer = client.post("/new", {"start": "import", "file": uploaded(), "rename": "yes"})
    assert answer.status_code == 200
    assert Session.objects.get().name == "Imported cluster"
    assert kept_of_old() == []
