"""The page of a pod's journey, and its text."""

from tests.playground.workbench.conftest import page_text

WEB = "journey/default/web-1"


def test_a_journey_is_a_page_that_says_where_the_pod_is(visitor):
    begun = visitor("story:first-placement")
    begun.post("step", grain="pod")
    said = page_text(begun.get(WEB))
    assert "Journey of web-1" in said
    assert "Attempt 1" in said


def test_a_journey_up_to_an_earlier_step_leads_back_to_it(visitor):
    begun = visitor("story:first-placement")
    begun.post("step", grain="pod")
    page = begun.get(WEB, at=1).content.decode()
    assert f"{begun.url}?at=1&amp;tab=journey&amp;pod=default%2Fweb-1" in page


def test_a_journey_is_plain_text_for_who_asks(visitor):
    answer = visitor("story:first-placement").get(WEB + ".txt")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.content.decode().startswith("NAME ")


def test_a_view_link_shows_the_journey(visitor):
    begun = visitor("story:first-placement")
    assert begun.browser.get(begun.view_url + WEB).status_code == 200


def test_a_pod_that_was_never_there_has_no_journey(visitor):
    answer = visitor("story:first-placement").get("journey/default/<nobody>")
    assert answer.status_code == 404
    assert "No pod default/<nobody> existed up to this step" in page_text(answer)


def test_the_lanes_are_tables_for_who_reads(visitor):
    begun = visitor("story:first-placement")
    begun.post("step", grain="pod")
    said = page_text(begun.get("timeline", axis="time"))
    assert "web-1" in said
    assert "in flight" in said


def test_the_reasons_of_the_lanes_are_in_the_readers_language(visitor):
    begun = visitor("story:first-placement")
    begun.post("step", grain="pod")
    said = page_text(begun.browser.get(begun.url + "timeline", headers={"accept-language": "zh-hans"}))
    assert "已出队" in said and "popped" not in said


def test_the_cycle_state_is_a_page_too(visitor):
    begun = visitor("story:first-placement")
    begun.post("step", grain="pod")
    assert "wrote PreFilter · NodeResourcesFit" in page_text(begun.get("cycle-state", pod="default/web-1"))
    assert "no scheduling cycle" in page_text(begun.get("cycle-state", pod="default/nobody"))
