"""Any object as YAML: created, replaced, deleted, or refused at its line."""

import re

import pytest

from tests.playground.workbench.conftest import page_text

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '2', memory: 4Gi, pods: '10'}}\n"
BOMB = (
    "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + NODE
)


@pytest.fixture
def begun(visitor):
    begun = visitor("empty")
    begun.post("yaml", text=NODE, create="")
    return begun


def lines_of(answer) -> list[str]:
    return re.findall(r'<li data-line="(\d+)"', answer.content.decode())


def test_a_text_creates_every_object_in_it(begun):
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n" + NODE.replace("n1", "n2")
    assert begun.post("yaml", text=text, create="").status_code == 302
    assert begun.objects("Node") == ["n1", "n2"]
    assert "team" in begun.objects("Namespace")


def test_an_object_opens_in_the_editor_and_is_replaced(begun):
    shown = page_text(begun.get("yaml", kind="Node", namespace="", name="n1"))
    assert "kind: Node" in shown
    begun.post("yaml", text=NODE.replace("'2'", "'8'"), replace="", for_kind="Node", for_name="n1")
    assert begun.manifest("Node", "n1")["status"]["allocatable"]["cpu"] == "8"


def test_create_refuses_a_name_that_is_taken(begun):
    before = begun.head()
    answer = begun.post("yaml", text=NODE.replace("'2'", "'8'"), create="")
    assert answer.status_code == 422
    assert "“Node n1” already exists" in page_text(answer)
    assert begun.head() == before


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("kind: Pod\n  a: b\n", "2", "not readable as YAML", id="malformed"),
        pytest.param('{"kind": "Pod",\n "x": }', "2", "JSON", id="malformed JSON"),
        pytest.param(NODE.replace("'2'", "2x"), "4", "is not a quantity", id="a wrong quantity"),
        pytest.param(NODE.replace("{name: n1}", "\n  name: n1\n  labels: [a]"), "5", "metadata.labels", id="a wrong type"),
        pytest.param("apiVersion: v1\nkind: Podd\nmetadata: {name: a}\n", None, "Podd", id="an unknown kind"),
        pytest.param("just text", None, "", id="no object"),
        pytest.param("", "1", "The text contains no object", id="nothing"),
        pytest.param("a: !!python/object/apply:os.system [ls]\n", "1", "", id="a tag"),
        pytest.param(BOMB, None, "alias", id="an alias bomb"),
        pytest.param("[" * 5000, None, "", id="nesting"),
        pytest.param("a: \x00", None, "", id="a control character"),
        pytest.param("kind: Pod\nmetadata: {name: 😀}\n", None, "", id="an emoji for a name"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_applied_is_refused_and_changes_nothing(begun, text, line, said):
    before = begun.head()
    answer = begun.post("yaml", text=text, create="")
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert line is None or line in lines_of(answer)
    assert "Nothing was changed" in page_text(answer)
    assert begun.head() == before


def test_one_wrong_object_keeps_the_others_out_too(begun):
    begun.post("yaml", text=NODE.replace("n1", "n2") + "---\n" + NODE.replace("n1", "N3"), create="")
    assert begun.objects("Node") == ["n1"]


def test_a_text_of_markup_is_shown_as_text(begun):
    answer = begun.post("yaml", text="</textarea><script>alert(1)</script>: [", create="")
    assert "<script>alert" not in answer.content.decode()


JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""
BOUND = """apiVersion: v1
kind: Pod
metadata: {{name: p{node}}}
spec: {{nodeName: {node}, containers: [{{name: c, image: i}}]}}
"""


def test_what_else_is_to_be_known_of_objects_is_said_when_they_are_applied(begun):
    answer = begun.browser.post(f"{begun.url}yaml", {"text": BOUND.format(node="x"), "create": ""}, follow=True)
    assert "1 object applied" in page_text(answer)
    assert 'node "x" is not in the cluster: 1 pod is bound to it' in page_text(answer)


def test_the_last_of_a_repeated_key_is_taken_and_that_is_said(begun):
    text = NODE.replace("n1", "n2").replace("kind: Node\n", "kind: Pod\nkind: Node\n")
    answer = begun.browser.post(f"{begun.url}yaml", {"text": text, "create": ""}, follow=True)
    assert begun.objects("Node") == ["n1", "n2"]
    assert 'Line 3: duplicate key "kind"' in page_text(answer)


def test_many_notes_are_summed_up(begun):
    text = "---\n".join(BOUND.format(node=f"w{number}") for number in range(8))
    answer = begun.browser.post(f"{begun.url}yaml", {"text": text, "create": ""}, follow=True)
    assert 'node "w4" is not' in page_text(answer)
    assert 'node "w5" is not' not in page_text(answer)
    assert "and 3 more notes" in page_text(answer)


def test_an_object_is_deleted(begun):
    assert begun.post("objects/delete", kind="Node", namespace="", name="n1").status_code == 302
    assert begun.objects("Node") == []


def test_a_job_is_deleted_as_kubectl_does_it_with_its_pods(begun):
    begun.post("yaml", text=JOB, create="")
    assert begun.post("objects/delete", kind="Job", namespace="default", name="j").status_code == 302
    assert begun.objects("Job") == []


def test_deleting_what_does_not_exist_is_refused(begun):
    before = begun.head()
    answer = begun.post("objects/delete", kind="Node", namespace="", name="n9")
    assert answer.status_code == 400
    assert 'nodes "n9" not found' in page_text(answer)
    assert begun.head() == before


def test_a_number_that_no_computer_word_holds_is_kept_as_kubectl_would(begun):
    begun.post(
        "yaml", text=NODE.replace("n1", "n2").replace("status: {", "status: {odd: 99999999999999999999999, "), create=""
    )
    assert begun.manifest("Node", "n2")["status"]["odd"] == 1e23


@pytest.mark.parametrize("kind", ["", "Nod", "x" * 500])
def test_deleting_an_object_of_no_kind_is_refused(begun, kind):
    assert begun.post("objects/delete", kind=kind, namespace="", name="n1").status_code == 400


def test_opening_what_does_not_exist_says_so(begun):
    answer = begun.get("yaml", kind="Pod", namespace="default", name="gone")
    assert answer.status_code == 404
    assert "No Pod default/gone" in page_text(answer)


def test_the_list_is_filtered_by_kind_and_name(begun):
    begun.post("yaml", text=NODE.replace("n1", "other"), create="")
    shown = page_text(begun.get("objects", kind="Node", q="oth"))
    assert "other" in shown
    assert " n1 " not in shown


def test_the_list_shows_fifty_at_a_time(begun):
    begun.post("build/nodes", count=120, name="m{i}", first=1, cpu="1", memory="1Gi", pods=1)
    shown = begun.get("objects", kind="Node", page=3).content.decode()
    assert "101–121 of 121" in shown
    assert shown.count('<th scope="row">') == 21


def test_pending_pods_are_listed_with_why_one_click_away(visitor):
    begun = visitor("cluster:small")
    shown = begun.get("objects", state="pending").content.decode()
    assert shown.count(">Why?</a>") == 4
    assert f'href="{begun.url}?pod=default/web-1"' in shown
    assert begun.browser.get(f"{begun.url}?pod=default/web-1").status_code == 200


def test_a_pod_that_is_being_deleted_is_terminating(visitor):
    begun = visitor("empty")
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}"
    begun.post("yaml", text=f"{NODE}---\n{pod}", create="")
    begun.post("objects/delete", kind="Pod", namespace="default", name="web")
    assert "Terminating · n1" in page_text(begun.get("objects"))


def test_an_object_says_which_of_its_fields_have_no_effect(begun):
    begun.post("yaml", text="apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", create="")
    shown = page_text(begun.get("yaml", kind="Secret", namespace="default", name="s"))
    assert "Without effect here" in shown
    assert "nothing is mounted" in shown
    assert "Without effect here" not in page_text(begun.get("yaml", kind="Node", namespace="", name="n1"))
