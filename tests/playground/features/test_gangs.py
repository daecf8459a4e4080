"""The page that compares Coscheduling with pod groups."""

import pytest
from django.test import Client

from playground.features.gangs.views import list_sides
from playground.models import Session
from playground.workbench.builder import inputs_of_gangs
from scheduler_core.analysis.gangs import WAYS, compare_gangs


def test_groups_hold_nothing_and_evict_nobody_in_vain() -> None:
    alone, plugin, groups = compare_gangs(inputs_of_gangs()["deadlock"])
    assert [(each.placed, each.whole) for each in alone.gangs] == [(1, None), (1, None)]
    assert all(each.held > 50 * 10**9 for each in alone.gangs)
    for way in (plugin, groups):  # one gang has all, the other one nothing
        assert sorted(each.placed for each in way.gangs) == [0, 2]
    alone, plugin, groups = compare_gangs(inputs_of_gangs()["in-vain"])
    assert alone.gone == plugin.gone == ("batch-1", "batch-2") and groups.gone == ()
    assert groups.others == (("batch-1", True), ("batch-2", True))
    assert [each.gangs[0].placed for each in (alone, plugin, groups)] == [2, 0, 0]


@pytest.mark.django_db(transaction=True)
def test_the_page_shows_each_way_and_opens_it() -> None:
    browser = Client()
    page = browser.get("/gangs").content.decode()
    assert all(gang.message in page for side in list_sides("too-small") for gang in side["outcome"].gangs)
    for way in WAYS:
        assert browser.post("/gangs", {"start": "too-small", "way": way}).status_code == 302
        assert Session.objects.latest("pk").name.startswith("A gang of three finds room for two")
    wrong = browser.post("/gangs", {"start": "too-small", "way": "magic"})
    assert wrong.status_code == 400 and "too-small, magic" in wrong.content.decode()
