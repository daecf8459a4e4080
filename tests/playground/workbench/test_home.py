"""The first page: where a session begins."""

import pytest
from django.test import Client

from playground.lessons import beginning, lesson_of, read_lessons
from playground.models import Session
from playground.views.home import film
from playground.workbench.builder import CLUSTERS
from scheduler_core.world.commands import ApplyObjects
from tests.playground.workbench.conftest import page_text

pytestmark = pytest.mark.django_db(transaction=True)
STARTS = [f"story:{story.slug}" for story in read_lessons()] + [f"cluster:{slug}" for slug in CLUSTERS]


def test_the_first_page_offers_every_cluster_and_eight_lessons_and_leads_to_all_of_them():
    shown, lessons = Client().get("/").content.decode(), Client().get("/lessons/").content.decode()
    assert shown.count('value="story:') == 8 and 'href="/lessons/"' in shown
    offered = shown + lessons
    assert [start for start in STARTS if f'value="{start}"' not in offered] == []


def test_the_moving_picture_shows_what_the_engine_decides(visitor):
    shown = film()
    begun = visitor("cluster:placement")
    assert shown["waiting"] == ["web-2", "web-3"]
    begun.ask(lambda client: client.walk(200))
    assert begun.manifest("Pod", "web-1")["spec"]["nodeName"] == shown["node"]
    by_name = {node.name: node for node in shown["nodes"]}
    assert {node.said for node in by_name.values()} > {"Insufficient cpu", "node(s) were unschedulable"}
    assert by_name[shown["node"]].points == max(node.points for node in by_name.values())
    assert shown["feasible"] == sum(not node.said for node in by_name.values()) == 3


def names_by_kind(start):
    """What a beginning says is there: names by kind."""
    kind, _colon, slug = start.partition(":")
    if kind == "cluster":
        manifests = CLUSTERS[slug].make()
    else:
        commands = beginning(lesson_of(slug).plan)
        manifests = [each for command in commands if isinstance(command, ApplyObjects) for each in command.objects]
    names = {}
    for manifest in manifests:
        names.setdefault(manifest["kind"], set()).add(manifest["metadata"]["name"])
    return names


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"


@pytest.mark.parametrize("start", STARTS)
def test_every_beginning_leads_to_a_studio_with_all_its_objects(visitor, start):
    begun = visitor(start)
    assert begun.get("").status_code == 200
    wanted = names_by_kind(start)
    assert "Node" in wanted
    assert [kind for kind, names in wanted.items() if not names <= set(begun.objects(kind))] == []


def test_an_empty_beginning_has_no_nodes_and_no_pods(visitor):
    begun = visitor("empty")
    assert begun.objects("Node") == begun.objects("Pod") == []


def test_a_beginning_that_does_not_exist_makes_no_session():
    answer = Client().post("/new", {"start": "story:none"})
    assert answer.status_code == 400
    assert "“story:none” is not a starting point" in page_text(answer)
    assert Session.objects.count() == 0


def test_a_session_begins_with_the_seed_that_was_asked_for():
    assert Client().post("/new", {"start": "empty", "seed": "7"}).status_code == 302
    assert Session.objects.get().seed == 7
    answer = Client().post("/new", {"start": "empty", "seed": "-1"})
    assert (answer.status_code, Session.objects.count()) == (400, 1)
    assert "The seed “-1” is not a whole number" in page_text(answer)


def test_an_import_begins_with_the_seed_that_was_asked_for():
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"
    Client().post("/new", {"start": "import", "text": text, "seed": "11"})
    assert Session.objects.get().seed == 11
    answer = Client().post("/new", {"start": "import", "text": text, "seed": "x"})
    assert (answer.status_code, Session.objects.count()) == (400, 1)
    assert "The seed “x” is not a whole number" in page_text(answer)


def test_the_last_sessions_of_a_browser_are_offered_again(visitor):
    begun = visitor("cluster:small")
    assert f'href="{begun.url}"' in begun.browser.get("/").content.decode()


def test_another_browser_is_not_told_of_them(visitor):
    begun = visitor("cluster:small")
    assert begun.session.edit_key not in Client().get("/").content.decode()


def test_a_session_opened_by_its_view_link_is_remembered_as_view_only(visitor):
    begun = visitor("cluster:small")
    friend = Client()
    friend.get(begun.view_url)
    shown = friend.get("/").content.decode()
    assert begun.session.view_key in shown
    assert begun.session.edit_key not in shown
    assert "view only" in shown


def test_a_deleted_session_is_no_longer_offered(visitor):
    begun = visitor("cluster:small")
    begun.post("delete")
    assert begun.session.edit_key not in begun.browser.get("/").content.decode()
    assert begun.get("").status_code == 404


def test_an_import_from_the_first_page_opens_with_its_preview():
    browser = Client()
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"
    answer = browser.post("/new", {"start": "import", "text": text}, follow=True)
    assert answer.status_code == 200
    assert "Import 1 object" in page_text(answer)


def test_an_import_of_nothing_says_so_and_makes_no_session():
    answer = Client().post("/new", {"start": "import", "text": " "})
    assert "Nothing to import" in page_text(answer)
    assert Session.objects.count() == 0


def test_an_import_that_cannot_be_read_keeps_the_text_and_says_where():
    answer = Client().post("/new", {"start": "import", "text": "kind: [oops"})
    assert answer.status_code == 422
    assert "not readable as YAML" in page_text(answer)
    assert "kind: [oops" in page_text(answer)
    assert Session.objects.filter(deleted=None).count() == 0


def test_an_import_that_is_only_looked_at_is_no_session_to_go_on_with():
    browser = Client()
    browser.post("/new", {"start": "import", "text": "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\n"})
    assert "Imported cluster" not in page_text(browser.get("/"))


def test_an_icon_is_at_the_usual_place(client):
    answer = client.get("/favicon.ico")
    assert answer.status_code == 302
    assert answer["Location"].endswith(".svg")


@pytest.mark.parametrize(
    ("fields", "release"),
    [
        ({"start": "empty"}, "1.37.2"),
        ({"start": "cluster:small", "release": "1.36"}, "1.36.3"),
        ({"start": "story:first-placement"}, "1.34.1"),
        ({"start": "import", "text": NODE + "status: {nodeInfo: {kubeletVersion: v1.35.1}}"}, "1.35.4"),
        ({"start": "import", "text": NODE}, "1.37.2"),
    ],
)
def test_a_session_has_the_release_asked_for_or_indicated_else_the_newest(fields, release):
    browser = Client()
    assert browser.post("/new", fields).status_code in (200, 302)
    page = browser.get(f"/s/{Session.objects.latest('pk').edit_key}/").content.decode()
    assert f"kube {release}" in page


def test_a_release_that_is_not_modeled_makes_no_session():
    answer = Client().post("/new", {"start": "empty", "release": "1.20"})
    assert answer.status_code == 400 and "expected a release from 1.34" in answer.content.decode()
    assert not Session.objects.exists()


def test_a_lesson_that_was_begun_again_is_one_row_and_so_is_each_other_session():
    browser = Client()
    for start in ("story:taints", "empty", "story:taints", "empty"):
        browser.post("/new", {"start": start})
    shown = browser.get("/").content.decode()
    newest = Session.objects.filter(story="taints").latest("pk")
    assert shown.partition('class="recent"')[2].partition("</ul>")[0].count("<li>") == 3
    assert f'href="/s/{newest.edit_key}/"' in shown
