"""The list of commands, and leaving some of them out, without JavaScript."""

import re

import pytest

from playground.models import Session
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES, PODS


@pytest.fixture
def begun(visitor):
    """A session at step 2: nodes at step 0, pods at step 1."""
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("build/pods", **PODS)
    return begun


def left_out(begun, **fields):
    """The page that tells what became of a re-run."""
    answer = begun.post("rerun", **fields)
    assert answer.status_code == 302, page_text(answer)
    return begun.browser.get(answer["Location"])


def test_commands_are_listed_with_when_what_and_by_which_form(begun):
    shown = page_text(begun.get("commands"))
    assert "Commands 2" in shown
    assert re.search(r"1 creates Node node-1.* step 1 · t = 00:00:00.000 · Build", shown)
    assert re.search(r"2 creates Pod web-1, web-2.* step 2 ", shown)


def test_a_command_leads_to_its_moment(begun):
    assert f'href="{begun.url}?at=2" data-goto="2"' in begun.get("commands").content.decode()


def test_a_world_of_which_nothing_was_asked_says_so(visitor):
    assert "No commands yet" in page_text(visitor("empty").get("commands"))


def test_where_the_viewer_stands_is_marked(begun):
    shown = begun.get("commands", at=1).content.decode()
    assert re.findall(r'<li class="(here|later)"', shown) == ["here", "later"]


@pytest.mark.parametrize(("q", "numbers"), [("WEB-1", ["2"]), ("node", ["1"]), ("nobody", [])])
def test_commands_that_name_something_are_found(begun, q, numbers):
    shown = begun.get("commands", q=q).content.decode()
    assert re.findall(r"<p><b>(\d+)</b>", shown) == numbers


def test_a_name_that_no_command_has_is_told(begun):
    assert "No command matches" in page_text(begun.get("commands", q="nobody"))


def test_a_history_without_a_command_is_a_branch_that_says_so(begun):
    shown = page_text(left_out(begun, only=0))
    branch = Session.objects.latest("pk")
    assert branch.name.endswith(" · without Node node-1 … (2)")
    assert (branch.origin_id, branch.branch, branch.origin_position) == (begun.session.pk, True, 0)
    assert "1 later command was repeated at its original time" in shown
    assert 'value="Empty cluster · without Node node-1 … (2)"' in begun.get("branches").content.decode()


def test_several_commands_are_left_out(begun):
    left_out(begun, skip=[0, 1])
    branch = Session.objects.latest("pk")
    assert (branch.head, branch.log.count()) == (0, 0)


def test_the_branch_can_be_compared_and_opened(begun):
    shown = left_out(begun, only=1).content.decode()
    branch = Session.objects.latest("pk")
    assert f"compare?with={branch.edit_key}" in shown
    assert begun.browser.get(f"/s/{branch.edit_key}/").status_code == 200


def test_the_log_of_the_branch_is_whole(begun):
    left_out(begun, only=0)
    branch = Session.objects.latest("pk")
    rows = list(branch.log.values_list("seq", "at", "to"))
    assert [at for _, at, _ in rows] == [0, *[to for _, _, to in rows[:-1]]]
    assert (rows[-1][2], len(rows)) == (branch.head, branch.log_seq)


def test_what_depends_on_a_command_that_was_left_out_is_told(begun):
    begun.post("objects/delete", kind="Node", name="node-1")
    shown = page_text(left_out(begun, only=0))
    assert "1 later command no longer applied and was left out, too" in shown
    assert "deletes Node node-1" in shown
    assert '"node-1" not found' in shown


def test_names_of_equal_branches_are_numbered(begun):
    for _ in range(2):
        left_out(begun, only=1)
    assert Session.objects.latest("pk").name.endswith("(2)")


@pytest.mark.parametrize("fields", [{}, {"skip": "x"}, {"only": "-1"}, {"skip": "9" * 30}])
def test_without_a_command_to_leave_out_that_is_told(begun, fields):
    answer = begun.post("rerun", **fields)
    assert answer.status_code == 400
    assert "Select the commands to leave out first" in page_text(answer)


def test_a_position_without_a_command_is_refused(begun):
    answer = left_out(begun, only=7)
    assert answer.status_code == 400
    assert "no such command" in page_text(answer)
    assert Session.objects.count() == 1


def test_a_view_link_sees_the_list_but_leaves_nothing_out(begun):
    shown = begun.browser.get(begun.view_url + "commands")
    assert (shown.status_code, b"Leave this out" in shown.content) == (200, False)
    assert begun.browser.post(begun.view_url + "rerun", {"only": 0}).status_code == 403


def test_a_rerun_of_another_session_or_of_nobody_is_not_known(begun):
    assert begun.get("rerun/nobody").status_code == 404


def test_a_history_with_another_seed_is_a_branch_that_has_it(begun):
    shown = page_text(left_out(begun, seed="5"))
    branch = Session.objects.latest("pk")
    assert (branch.name, branch.seed, branch.branch) == ("Empty cluster · seed 5", 5, True)
    assert "with random seed 5 instead of 0" in shown
    assert "2 commands were repeated at their original times" in shown
    compared = page_text(begun.get("compare", **{"with": branch.edit_key}))
    assert "Their random seeds differ, 0 in A and 5 in B" in compared


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("0", "This history already has seed 0. Choose another seed."),
        ("-1", "The seed “-1” is not a whole number from 0 to 2147483647."),
        ("9999999999", "The seed “9999999999” is not a whole number from 0 to 2147483647."),
    ],
)
def test_a_seed_that_is_none_makes_no_branch(begun, seed, said):
    answer = begun.post("rerun", seed=seed)
    if answer.status_code == 302:
        answer = begun.browser.get(answer["Location"])
    assert said in page_text(answer)
    assert Session.objects.count() == 1
