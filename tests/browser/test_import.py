"""Importing what kubectl prints, in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Complaints, running_server
from tests.browser.server import PlaygroundServer
from tests.browser.studio import more, start_empty

NODE = (
    "apiVersion: v1\nkind: Node\nmetadata: {name: mine}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
)
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: a, image: b, resources: {requests: {cpu: %s}}}]}\n"
WAITING = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "waiting"},
    "spec": {
        "containers": [{"name": "a", "image": "b"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    },
}
DROP = """(box, [name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    box.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
  }
}"""


def test_a_pasted_cluster_is_previewed_and_then_imported(page: Page, server: PlaygroundServer) -> None:
    page.goto(server.url)
    page.get_by_label("Paste what kubectl prints").fill("---\n".join([NODE, POD % ("good", "1"), POD % ("bad", "1x")]))
    page.get_by_role("button", name="Show what is Pending").click()
    refused = page.get_by_role("row").filter(has_text="Pod bad")
    expect(refused).to_contain_text("refused")
    expect(refused).to_contain_text("spec.containers[0].resources.requests[cpu]")
    expect(refused).to_contain_text("line 14")
    page.get_by_role("button", name="Import 2 objects").click()
    expect(page.get_by_text("2 objects imported")).to_be_visible()
    expect(page.locator("#node-mine")).to_be_attached()
    expect(page.locator("#panel-queues").get_by_text("good")).to_be_visible()
    expect(page.locator("#panel-queues").get_by_text("bad")).to_have_count(0)


def test_a_file_dropped_on_the_page_is_previewed(page: Page, server: PlaygroundServer) -> None:
    page.goto(server.url)
    page.locator("div[data-drop]").evaluate(DROP, ["cluster.yaml", NODE])
    expect(page.get_by_role("button", name="Import 1 object", exact=True)).to_be_visible()


def test_a_chosen_file_is_previewed_in_the_drawer(page: Page, server: PlaygroundServer, tmp_path: Path) -> None:
    (tmp_path / "node.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "filed"}}))
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")  # loaded, scripts included: before them the link leads to the page itself
    more(page).get_by_role("link", name="Import", exact=True).click()
    drawer = page.locator("#drawer")
    drawer.get_by_label("Choose a file…").set_input_files(tmp_path / "node.json")
    drawer.get_by_role("button", name="Preview the import").click()
    drawer.get_by_role("button", name="Import 1 object", exact=True).click()
    expect(page.get_by_text("1 object imported")).to_be_visible()
    expect(page.locator("#node-filed")).to_have_count(1)
    expect(drawer).to_be_hidden()


def test_a_renamed_import_shows_its_names_once_and_goes_on(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    page.goto(server.url)
    page.get_by_label("Paste what kubectl prints").fill("---\n".join([NODE, POD % ("payments", "1")]))
    page.get_by_label("Anonymize: replace all names before saving").check()
    page.get_by_role("button", name="Show what is Pending").click()
    names = page.get_by_label("Old and new names, as CSV")
    expect(names).to_have_value(re.compile("^mine,node-1$", re.MULTILINE))
    accessible(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as a file").click()
    assert saved.value.suggested_filename == "names.csv"
    assert saved.value.path().read_text() == names.input_value()
    page.get_by_role("link", name="Continue to the preview").click()
    expect(page.get_by_text("All names are replaced")).to_be_visible()
    page.get_by_role("button", name="Import 2 objects").click()
    expect(page.locator("#node-node-1")).to_be_attached()
    expect(page.get_by_text("payments")).to_have_count(0)


def test_a_text_that_cannot_be_read_says_where_and_stays(
    page: Page, server: PlaygroundServer, complaints: Complaints
) -> None:
    complaints.forgive("422")
    page.goto(server.url)
    page.get_by_label("Paste what kubectl prints").fill("kind: Pod\n bad: [")
    page.get_by_role("button", name="Show what is Pending").click()
    expect(page.get_by_role("alert")).to_contain_text("not readable as YAML")
    expect(page.get_by_label("Paste what kubectl prints")).to_have_value("kind: Pod\n bad: [")


def test_a_table_is_answered_with_what_to_type_and_nothing_is_lost(
    page: Page, server: PlaygroundServer, complaints: Complaints, accessible: Callable[[Page], None]
) -> None:
    complaints.forgive("422")
    table = "NAME   READY   STATUS    RESTARTS   AGE\nweb    0/1     Pending   0          5m"
    page.goto(server.url)
    page.get_by_label("Paste what kubectl prints").fill(table)
    page.get_by_label("Anonymize: replace all names before saving").check()
    page.get_by_role("button", name="Show what is Pending").click()
    expect(page.get_by_role("alert")).to_contain_text("-o yaml")
    expect(page.get_by_label("Paste what kubectl prints")).to_have_value(table)
    expect(page.get_by_label("Anonymize: replace all names before saving")).to_be_checked()
    accessible(page)


def test_a_chosen_file_is_shown_in_groups(
    page: Page, server: PlaygroundServer, tmp_path: Path, accessible: Callable[[Page], None]
) -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}}
    bad = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "Not A Name"}}
    (tmp_path / "cluster.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [WAITING, event, bad]})
    )
    page.goto(server.url)
    page.get_by_role("button", name="Choose a file…", exact=True).set_input_files(tmp_path / "cluster.json")
    page.get_by_role("button", name="Show what is Pending").click()
    summary = page.get_by_role("main")
    for word in ("created", "ignored", "refused", "Missing"):
        expect(summary.get_by_text(word).first).to_be_visible()
    expect(summary).to_contain_text("kubectl get persistentvolumeclaims data -n default -o yaml")
    accessible(page)


def test_a_large_import_shows_windows_of_its_rows(page: Page, server: PlaygroundServer, tmp_path: Path) -> None:
    items = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}"}} for i in range(1500)]
    (tmp_path / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    page.goto(server.url)
    page.get_by_role("button", name="Choose a file…", exact=True).set_input_files(tmp_path / "nodes.json")
    page.get_by_role("button", name="Show what is Pending").click()
    page.locator("summary", has_text="1,500 objects").click()
    expect(page.get_by_text("1–50 of 1,500")).to_be_visible()
    assert page.locator("table.plan tbody tr").count() == 50
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("51–100 of 1,500")).to_be_visible()


@pytest.fixture
def small_server(tmp_path: Path) -> Iterator[PlaygroundServer]:
    """A server that takes uploads of 10 kB at most."""
    yield from running_server(tmp_path, MAX_UPLOAD_BYTES="10000", MAX_IMPORT_BYTES="10000")


def test_an_upload_over_the_limit_is_refused_in_words(
    page: Page, small_server: PlaygroundServer, complaints: Complaints, tmp_path: Path
) -> None:
    complaints.forgive("413")
    complaints.forgive("net::ERR_")
    complaints.forgive("favicon.ico")
    (tmp_path / "large.yaml").write_text("#" * 2_000_000)
    page.goto(small_server.url)
    page.get_by_role("button", name="Choose a file…", exact=True).set_input_files(tmp_path / "large.yaml")
    preview = page.get_by_role("button", name="Show what is Pending")
    preview.click()
    field = page.locator("#import-file")
    assert "too long. The limit of this server is 10,000 bytes" in field.evaluate("(field) => field.validationMessage")
    expect(page.get_by_role("alert")).to_have_count(0)  # so nothing was sent; a browser without scripts would
    field.evaluate("(field) => field.setCustomValidity('')")
    preview.click()
    expect(page.get_by_role("alert")).to_contain_text("larger than the 10,000 bytes")
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("See how")


def test_a_view_link_cannot_import(
    page: Page, server: PlaygroundServer, new_context: Callable[..., BrowserContext]
) -> None:
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")
    page.goto(page.url + "session")
    friend = new_context().new_page()
    friend.goto(page.get_by_label("View link").input_value() + "import")
    expect(friend.get_by_text("This is a view link")).to_be_visible()
    expect(friend.get_by_role("button", name="Preview the import")).to_have_count(0)


def test_what_is_wrong_with_a_text_on_the_first_page_is_in_view(
    page: Page, server: PlaygroundServer, complaints: Complaints
) -> None:
    complaints.forgive("422")
    page.goto(server.url)
    page.locator("#import-text").fill("no: yaml: at all")
    page.get_by_role("button", name="Show what is Pending").click()
    expect(page.locator(".refusal")).to_be_in_viewport()


def test_a_large_file_says_how_far_it_is_and_can_be_cancelled_by_keyboard(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": "default", "name": f"p{i}", "annotations": {"note": "x" * 400}},
            "spec": {"containers": [{"name": "a", "image": "b"}]},
        }
        for i in range(99_000)
    ]
    (tmp_path / "large.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")
    page.goto(page.url + "import")
    page.get_by_role("button", name="Choose a file…", exact=True).set_input_files(tmp_path / "large.json")
    page.get_by_role("button", name="Preview the import").click()
    page.wait_for_url("**/importing/*")
    expect(page.get_by_role("progressbar")).to_be_visible()
    accessible(page)
    cancel = page.get_by_role("button", name="Cancel the import")
    cancel.focus()
    page.evaluate("() => { window.stays = true; }")
    expect(page.get_by_text(re.compile(r"Part [2-4] of 5, \d+% done"))).to_be_visible(timeout=30_000)
    expect(page.get_by_role("status")).not_to_have_text("Reading the file")
    assert page.evaluate("() => window.stays"), "the page was loaded anew"
    expect(cancel).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The import was canceled. Nothing was saved.")).to_be_visible()
    expect(page.get_by_label("Paste what kubectl prints")).to_be_visible()
