"""Import: first a preview, then one command that holds what was accepted."""

import io
import re
import tarfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from playground.models import LogEntry, Session
from playground.sessions.web.live import LiveSession
from tests.playground.workbench.conftest import page_text

OPENB = Path(__file__).parents[2] / "corpus" / "openb"
MIXED = """\
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Node
    metadata: {name: node-1}
    status: {allocatable: {cpu: "9", memory: 16Gi, pods: "110"}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: bound, namespace: default}
    spec: {nodeName: node-1, containers: [{name: a, image: b}]}
  - apiVersion: v1
    kind: Pod
    metadata: {name: wrong, namespace: default}
    spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 10x}}}]}
  - apiVersion: v1
    kind: Event
    metadata: {name: e, namespace: default}
"""


@pytest.fixture
def begun(visitor):
    return visitor("cluster:small")


def preview(begun, text):
    answer = begun.post("import", text=text)
    assert answer.status_code == 302, page_text(answer)
    return begun.browser.get(answer["Location"])


def apply(begun, text):
    token = preview(begun, text).context["plan"]["token"]
    return begun.post("import/apply", token=token)


def test_the_preview_tells_what_each_object_would_become(begun):
    shown = page_text(preview(begun, MIXED))
    assert "changed Node node-1 " in shown
    assert "status.allocatable.cpu" in shown
    assert "created Pod default/bound" in shown
    assert "refused Pod default/wrong line 15 spec.containers[0].resources.requests[cpu]" in shown
    assert "ignored Event default/e" in shown


def test_the_preview_changes_nothing(begun):
    before = begun.head()
    preview(begun, MIXED)
    assert begun.head() == before
    assert "bound" not in begun.objects("Pod")


def test_what_was_accepted_is_applied_as_one_command(begun):
    entries = LogEntry.objects.filter(session=begun.session).count()
    answer = apply(begun, MIXED)
    assert answer.status_code == 302
    assert LogEntry.objects.filter(session=begun.session).count() == entries + 1
    assert begun.manifest("Pod", "bound")["spec"]["nodeName"] == "node-1"
    assert "wrong" not in begun.objects("Pod")


def test_a_file_goes_the_same_way(begun):
    answer = begun.post("import", file=SimpleUploadedFile("cluster.yaml", MIXED.encode()))
    assert answer.status_code == 302
    assert "created Pod default/bound" in page_text(begun.browser.get(answer["Location"]))


YAML = "kind: Node\napiVersion: v1\nmetadata: {{name: f{}}}\n"
JSON = '{{"kind": "Node", "apiVersion": "v1", "metadata": {{"name": "f{}"}}}}'


@pytest.mark.parametrize("shapes", [(YAML, YAML), (JSON, JSON), (JSON, YAML), (YAML, JSON)])
def test_several_files_are_one_import(begun, shapes):
    parts = [SimpleUploadedFile(f"{i}", shape.format(i).encode()) for i, shape in enumerate(shapes)]
    answer = begun.post("import", file=parts)
    assert "Import 2 objects" in page_text(begun.browser.get(answer["Location"]))


def test_several_files_may_be_as_powershell_writes_them(begun):
    parts = [SimpleUploadedFile(f"{i}.yaml", YAML.format(i).encode("utf-16")) for i in range(2)]
    answer = begun.post("import", file=parts)
    assert "Import 2 objects" in page_text(begun.browser.get(answer["Location"]))


def test_errors_of_several_files_name_the_file_and_its_own_line(begun):
    good, bad = YAML.format(1), "kind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec:\n  containers: 7\n"
    parts = [SimpleUploadedFile(name, text.encode()) for name, text in (("one.yaml", good), ("two.yaml", bad))]
    shown = page_text(begun.browser.get(begun.post("import", file=parts)["Location"]))
    assert "two.yaml line 5 spec.containers" in shown


@pytest.mark.parametrize(
    ("bad", "said"),
    [(b"kind: Node\na: [", "not readable as YAML"), (b'{"a": 1,\n ]', "line 2"), (b"\xff\xfea", "UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(begun, bad, said):
    parts = [SimpleUploadedFile("one.yaml", YAML.format(1).encode()), SimpleUploadedFile("two.yaml", bad)]
    shown = page_text(begun.post("import", file=parts))
    assert "two.yaml" in shown
    assert said in shown


def test_an_import_in_the_past_forks(begun):
    apply(begun, YAML.format(1))
    begun.post("step", grain="call")
    head, token = begun.head(), preview(begun, YAML.format(2)).context["plan"]["token"]
    answer = begun.post("import/apply", token=token, at=head - 1, past="fork")
    fork = Session.objects.latest("pk")
    assert (answer["Location"], fork.origin_id) == (f"/s/{fork.edit_key}/", begun.session.pk)
    assert begun.head() == head


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not readable as YAML"),
        (b"\xff\xff\x00a", "UTF-8"),
        ("", "Nothing to import"),
        ("items: {}\nkind: List", "items"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(begun, text, said):
    before = begun.head()
    fields = {"file": SimpleUploadedFile("a", text)} if isinstance(text, bytes) else {"text": text}
    answer = begun.post("import", **fields)
    assert answer.status_code in (400, 422)
    assert said in page_text(answer)
    assert begun.head() == before


def test_an_import_that_changes_nothing_offers_no_button(begun):
    apply(begun, MIXED)
    again = preview(begun, "apiVersion: v1\nkind: Pod\nmetadata: {name: wrong}\nspec: {}\n")
    assert "The text contains nothing to import" in page_text(again)


@pytest.mark.parametrize("token", ["", "nothing", "x" * 3000])
def test_a_preview_that_is_not_kept_says_so(begun, token):
    answer = begun.post("import/apply", token=token)
    assert answer.status_code == 400
    assert "has expired" in page_text(answer)


def test_the_preview_of_another_session_cannot_be_applied(begun, visitor):
    token = preview(begun, MIXED).context["plan"]["token"]
    other = visitor("empty")
    assert other.post("import/apply", token=token).status_code == 400


def test_a_large_import_shows_a_summary_and_a_window_of_its_rows(visitor):
    begun = visitor("empty")
    nodes = "".join(f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: n{i}}}\n" for i in range(300))
    shown = preview(begun, nodes).content.decode()
    assert "Import 300 objects" in shown
    assert "1–50 of 300" in shown
    assert shown.count("<code>n") == 50
    assert len(shown) < 40_000


def test_a_preview_outlives_the_process_that_made_it(begun):
    answer = begun.post("import", text=MIXED)
    begun.ask(lambda client: client.on_loop(LiveSession.close))
    shown = begun.browser.get(answer["Location"])
    assert begun.post("import/apply", token=shown.context["plan"]["token"]).status_code == 302
    assert "bound" in begun.objects("Pod")


PROBED = """apiVersion: v1
kind: Pod
metadata: {name: probed}
spec: {containers: [{name: c, image: i, livenessProbe: {exec: {command: [x]}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {ports: [{port: 80}]}
"""


def test_what_has_no_effect_is_told_in_the_preview_and_when_it_is_applied(begun):
    shown = page_text(preview(begun, PROBED))
    assert "Pod probed: spec.containers[].livenessProbe has no effect here: containers run no program" in shown
    assert "Service s: has no effect here: no traffic is routed" in shown
    applied = apply(begun, PROBED)
    assert "spec.containers[].livenessProbe has no effect here" in page_text(begun.browser.get(applied["Location"]))


def test_an_archive_is_read_and_what_it_holds_is_said(begun):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, text in (("b/node.yaml", YAML.format(1)), ("b/logs.txt", "started")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    answer = begun.post("import", file=SimpleUploadedFile("bundle.tar.gz", whole.getvalue()))
    shown = page_text(begun.browser.get(answer["Location"]))
    assert "Read from the archive. Files: 1" in shown
    assert "Import 1 object" in shown


def test_a_table_is_refused_with_what_to_type(begun):
    table = "NAME   READY   STATUS    RESTARTS   AGE\nweb    0/1     Pending   0          5m\n"
    shown = page_text(begun.post("import", text=table))
    assert "kubectl get pods -o yaml" in shown


def test_what_is_left_out_of_a_saved_text_is_said(begun):
    text = YAML.format(7) + "\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
    shown = page_text(begun.browser.get(begun.post("yaml", text=text)["Location"]))
    assert "it configures the kubelet" in shown


ELSEWHERE = """\
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop%s}
spec: {containers: [{name: a, image: b}]}
"""


def test_the_namespaces_of_a_snapshot_are_made_where_it_lacks_them(begun):
    snapshot = ELSEWHERE % ", uid: u1, creationTimestamp: '2026-03-01T10:00:00Z'"
    shown = page_text(preview(begun, snapshot))
    assert "created Namespace shop" in shown
    assert "created Pod shop/web-0" in shown
    assert "Missing namespaces, which will be created without labels: shop." in shown
    apply(begun, snapshot)
    assert "shop" in begun.objects("Namespace")
    assert "Missing namespaces" not in page_text(preview(begun, snapshot))


def test_the_text_that_brings_the_first_nodes_has_its_namespaces(visitor):
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n---\n"
    shown = page_text(preview(visitor("empty"), node + ELSEWHERE % ""))
    assert "created Pod shop/web-0" in shown
    assert "Missing namespaces, which will be created without labels: shop." in shown


def test_a_manifest_whose_namespace_is_not_there_is_refused_as_by_a_real_api_server(begun):
    shown = page_text(preview(begun, ELSEWHERE % ""))
    assert "refused Pod shop/web-0" in shown
    assert 'namespaces "shop" not found' in shown


def test_a_namespace_that_is_made_has_another_name_too(begun):
    snapshot = ELSEWHERE % ", uid: u1, creationTimestamp: '2026-03-01T10:00:00Z'"
    names = begun.post("import", text=snapshot, rename="yes").content.decode()
    address = re.search(r'href="([^"]*[?]token=[^"]*)"', names)
    assert address
    shown = page_text(begun.browser.get(address[1].replace("&amp;", "&")))
    assert "created Namespace n3" in shown
    assert "shop" not in shown


@pytest.mark.parametrize(
    ("name", "replicas", "said"),
    [("web", '"${REPLICAS:-1}"', "${REPLICAS:-1}"), ("$NAME", "1", "$NAME"), ("web", '"many"', "")],
)
def test_variables_that_are_not_filled_in_are_said_with_what_to_type(begun, name, replicas, said):
    deployment = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: a, image: b, args: ["${{HOME}}"]}}]}}
"""
    shown = page_text(preview(begun, deployment))
    assert ("envsubst < FILE" in shown) == bool(said)
    assert not said or f"Values such as {said} are variables" in shown
