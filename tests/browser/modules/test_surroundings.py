"""What follows the viewer beside the panels: place, job, marks, changes, branches, toasts, the tip, the theme, the drawer, and latency."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.modules.conftest import LOOK_FIELDS, Alone

JOB, MARKS, CHANGES, BRANCHES = "studio/job.js", "studio/marks.js", "studio/changes.js", "studio/branches.js"
DRAWER, DOM = "shared/drawer.js", "shared/dom.js"


# The job --------------------------------------------------------------------------------------------------------------------

WORDS = """data-run="Running" data-play="Playing" data-back="Searching back" data-until="until" data-pods="pods" data-steps="steps"
data-left="left" """
JOBS = f"""<button id="play" data-label-play="Play" data-label-pause="Pause"><svg><use href="#i-play"/></svg></button>
<div id="job" hidden><progress id="job-bar"></progress><span id="job-says" {WORDS}></span></div>"""
SHOW_JOB = "({ showJob }, state) => showJob(state)"


@pytest.mark.parametrize(
    ("state", "says", "value"),
    [
        ({"running": {"kind": "play", "done": 3, "rate": 5}}, "Playing · 3 steps", None),
        (
            {"running": {"kind": "run", "done": 1500, "total": 2000, "rate": 99.6, "left": 4.1, "until": "idle"}},
            "Running until idle · 1,500 / 2,000 pods · 100/s · 5 s left",
            1500,
        ),
        ({"running": {"kind": "run", "done": 0}}, "Running", None),
        ({"searching": {"back": True, "scanned": 10, "of": 40}}, "Searching back · 10 / 40 steps", 10),
    ],
)
def test_what_goes_on_is_told(alone: Alone, state: dict[str, Any], says: str, value: int | None) -> None:
    alone.show(JOBS)
    alone.call(JOB, SHOW_JOB, {"running": None, "searching": None, **state})
    assert alone.page.inner_text("#job-says") == says
    bar = alone.do("(({ position, value }) => position < 0 ? null : value)(document.querySelector('#job-bar'))")
    assert bar == value


def test_the_play_button_says_what_it_would_do(alone: Alone) -> None:
    alone.show(JOBS)
    for running, label, icon in ({"kind": "play", "done": 1}, "Pause", "#i-pause"), (None, "Play", "#i-play"):
        alone.call(JOB, SHOW_JOB, {"running": running, "searching": None})
        play = alone.page.locator("#play")
        assert (play.get_attribute("aria-label"), play.locator("use").get_attribute("href")) == (label, icon)
        assert alone.do("[document.querySelector('#job').hidden, document.body.className]") == [
            running is None,
            "playing" if running else "",
        ]


# Marks ----------------------------------------------------------------------------------------------------------------------

BOOKMARKS = json.dumps([{"id": 1, "name": "start", "position": 5}])
WORDS_OF_FLAGS = 'data-step="step %s" data-failed="%s could not be scheduled" data-bound="%s is bound"'
TIMELINE = f"""<svg id="flags" {WORDS_OF_FLAGS}></svg>
<div class="marks-row"><svg id="marks" data-live="1" data-bookmarks='{BOOKMARKS}'></svg></div>
<div id="panel-timeline" data-first="0" data-last="50"><div class="lane-rows"></div></div>"""
FRESH = """<svg id="marks" data-live="1" data-bookmarks="[]"></svg>"""


@pytest.fixture
def marks(alone: Alone) -> Alone:
    """The queries that the marks were fetched with are heard."""
    alone.show(TIMELINE)
    alone.do(
        "void (globalThis.fetch = (real => (url) => (hear(url), globalThis.away ? Promise.reject() : real(url)))(fetch))"
    )
    alone.answer("marks", FRESH)
    return alone


def show_marks(marks: Alone, head: int, running: bool = False) -> list[str]:
    """The addresses that were fetched a moment after."""
    marks.call(MARKS, "({ showMarks }, head, running) => showMarks(head, running)", head, running)
    marks.do("tick(350)")
    return marks.heard


def test_marks_are_fetched_once_for_each_window_and_head_within_it(marks: Alone) -> None:
    url = "/s/key/marks?first=0&last=50"
    assert show_marks(marks, 10, running=True) == []
    assert show_marks(marks, 10) == [url]
    assert show_marks(marks, 10) == []
    assert show_marks(marks, 11) == [url]
    assert show_marks(marks, 60) == [url]
    assert show_marks(marks, 70) == []
    marks.do("void (document.querySelector('#panel-timeline').dataset.last = 80)")
    assert show_marks(marks, 70) == ["/s/key/marks?first=0&last=80"]


def test_marks_that_changed_are_fetched_at_once_and_what_failed_again(marks: Alone) -> None:
    assert len(show_marks(marks, 10)) == 1
    changed = "({ marksChanged }) => marksChanged(10)"
    marks.call(MARKS, changed)
    assert len(marks.heard) == 1
    marks.do("void (globalThis.away = true)")
    marks.call(MARKS, changed)
    assert len(marks.heard) == 1
    assert len(show_marks(marks, 10)) == 1


LATER = "void (globalThis.fetch = () => new Promise((done) => hear((html) => done(new Response(html)))))"
ANSWER = """async ([i, name]) => {
  heard[i](`<svg id="marks" class="${name}" data-bookmarks="[]"></svg>`);
  await new Promise(requestAnimationFrame);
}"""


def test_an_answer_of_before_the_change_that_comes_after_it_is_dropped(marks: Alone) -> None:
    marks.do(LATER)
    marks.call(MARKS, "({ marksChanged }) => void (marksChanged(10), marksChanged(10))")
    marks.page.evaluate(ANSWER, [1, "new"])
    marks.page.evaluate(ANSWER, [0, "old"])
    assert marks.page.get_attribute("#marks", "class") == "new"


def test_bookmarks_are_flags_on_the_rail_and_the_marks_stand_above_the_lanes(marks: Alone) -> None:
    show_marks(marks, 0, running=True)
    show_marks(marks, 20, running=True)
    flag = marks.page.locator("#flags a")
    assert (flag.count(), flag.get_attribute("data-goto"), flag.get_attribute("aria-label")) == (
        1,
        "5",
        "start · step 5",
    )
    assert flag.locator("svg").get_attribute("x") == "25%"
    assert marks.do("document.querySelector('.lane-rows').previousElementSibling.className") == "marks-row"
    assert marks.call(MARKS, "({ bookmarks }) => bookmarks()") == json.loads(BOOKMARKS)


def test_the_rail_shows_where_attempts_ended_and_arrow_keys_lead_along(marks: Alone) -> None:
    marks.answer(
        "ends.json",
        '{"ends": [{"position": 2, "pod": "default/web", "scheduled": false}, {"position": 9, "pod": "default/db", "scheduled": true}]}',
        kind="application/json",
    )
    show_marks(marks, 20)
    marks.do("tick(700)")
    marks.page.wait_for_function("document.querySelectorAll('#flags a').length == 2")
    labels = marks.page.locator("#flags a").evaluate_all("(all) => all.map((a) => [a.ariaLabel, a.tabIndex])")
    assert labels == [["web could not be scheduled · step 2", 0], ["db is bound · step 9", -1]]


# Changes --------------------------------------------------------------------------------------------------------------------

FOOT = """<details id="changes"><summary>changes</summary><select id="changes-since"><option value="step">the step before</option></select>
<button id="changes-keep" data-step="step %s">from here</button><div id="changes-body"></div></details>"""
LISTEN = """({ listenChanges, showChanges }, position, bookmarks) => {
  globalThis.at = position;
  listenChanges(() => [globalThis.at, bookmarks]);
}"""


@pytest.fixture
def changes(alone: Alone) -> Alone:
    alone.show(FOOT)
    alone.do("localStorage.clear()")
    alone.hear_requests()
    alone.call(CHANGES, LISTEN, 7, json.loads(BOOKMARKS))
    return alone


def asked(changes: Alone) -> list[tuple[int, int]]:
    """From where to where the changes were asked for, a moment after."""
    changes.do("tick(140)")
    return [(values["values"]["from"], values["values"]["to"]) for _, _, values in changes.heard]


def show_changes(changes: Alone, position: int) -> list[tuple[int, int]]:
    script = "({ showChanges }, position, bookmarks) => showChanges(position, bookmarks)"
    changes.call(CHANGES, script, position, json.loads(BOOKMARKS))
    return asked(changes)


def test_changes_are_fetched_while_the_foot_is_open(changes: Alone) -> None:
    assert show_changes(changes, 7) == []
    changes.page.click("summary")
    changes.page.wait_for_function("timers.size")
    assert asked(changes) == [(6, 7)]
    assert show_changes(changes, 7) == []
    assert show_changes(changes, 8) == [(7, 8)]
    assert changes.do("localStorage.getItem('changes-open')") == "1"


def test_changes_since_a_bookmark_or_since_a_step_that_was_kept(changes: Alone) -> None:
    changes.page.click("summary")
    changes.page.wait_for_function("timers.size")
    asked(changes)
    changes.page.select_option("#changes-since", "start")
    assert asked(changes) == [(5, 7)]
    changes.page.click("#changes-keep")
    assert asked(changes) == [(7, 7)]
    assert changes.page.locator("#changes-since option").all_inner_texts() == ["the step before", "step 7", "start"]
    assert show_changes(changes, 9) == [(7, 9)]


# Branches -------------------------------------------------------------------------------------------------------------------

STRIP = """<div id="branches"><div class="branch-scroll"><a href="/s/other/" data-keeps-look id="other">other</a></div>
<svg><circle id="branch-here" data-line='[[0, "11"], [20, "33"]]' data-most="80"/></svg></div>"""
SHOW_BRANCHES = "({ showBranches }, position, head, running) => showBranches(position, head, running ?? false)"


@pytest.fixture
def branches(alone: Alone) -> Alone:
    alone.show(STRIP, query="?tab=why")
    alone.hear_requests()
    return alone


@pytest.mark.parametrize(
    ("position", "x", "y"), [(0, "0%", "11"), (20, "25%", "11"), (40, "50%", "33"), (99, "100%", "33")]
)
def test_the_viewer_stands_on_the_present_branchs_line(branches: Alone, position: int, x: str, y: str) -> None:
    branches.call(BRANCHES, SHOW_BRANCHES, position, 80)
    here = branches.page.locator("#branch-here")
    assert (here.get_attribute("cx"), here.get_attribute("cy")) == (x, y)


def test_lines_are_drawn_anew_now_and_then_while_the_session_runs(branches: Alone) -> None:
    for head in (80, 80, 81, 82):
        branches.call(BRANCHES, SHOW_BRANCHES, 5, head, True)
    branches.do("tick(3999)")
    assert branches.heard == []
    branches.do("tick(1)")
    assert branches.heard == [["GET", "branches?strip=1&at=5", {"target": "#branches", "swap": "outerHTML"}]]


def test_lines_are_drawn_anew_soon_after_a_change_and_at_the_end_of_a_run(branches: Alone) -> None:
    branches.call(BRANCHES, SHOW_BRANCHES, 5, 80)
    branches.call(BRANCHES, SHOW_BRANCHES, 5, 81, True)
    branches.call(BRANCHES, SHOW_BRANCHES, 82, 82)
    branches.do("tick(300)")
    assert branches.heard == [["GET", "branches?strip=1&at=82", {"target": "#branches", "swap": "outerHTML"}]]


def test_nothing_moves_below_a_reader_who_is_among_the_branches(branches: Alone) -> None:
    branches.call(BRANCHES, SHOW_BRANCHES, 5, 80)
    branches.page.focus("#other")
    branches.call(BRANCHES, SHOW_BRANCHES, 5, 81)
    branches.do("tick(4000)")
    assert branches.heard == []
    branches.page.locator("#other").blur()
    branches.do("tick(4000)")
    assert len(branches.heard) == 1


def test_a_link_to_another_branch_takes_the_look_along(branches: Alone) -> None:
    branches.call(BRANCHES, "() => {}")
    branches.page.focus("#other")
    assert branches.do("[other.pathname, other.search]") == ["/s/other/", "?tab=why"]


# The place ------------------------------------------------------------------------------------------------------------------

PLACE = (
    LOOK_FIELDS
    + JOBS
    + TIMELINE
    + FOOT
    + """<section id="stage"></section><div id="panel-stage" data-stage="filter"></div>
<i id="clock"></i><span id="standing">in the past</span><form id="follow-form"></form><b class="of-head"></b><span id="profile"></span>
<div id="panel-transport" data-profile="default-scheduler"></div><input type="range" id="scrub"><output id="scrub-says"></output>
<input data-standing id="at"><input data-position id="position"><a data-standing-link href="objects" id="objects">objects</a>"""
)
SHOW_PLACE = """async ({ showPlace }, state) => {
  const { readLook } = await import("/static/playground/js/studio/look.js");
  const { readState } = await import("/static/playground/js/studio/state.js");
  showPlace({ ...readState(), ...state, look: { ...readLook(""), ...state.look } });
}"""


@pytest.mark.parametrize(
    ("at", "hidden", "values", "link", "query"),
    [(None, True, ["", "1200"], "", ""), (1200, False, ["1200", "1200"], "?at=1200", "?at=1200&tab=fix")],
)
def test_forms_links_and_the_url_follow_where_the_viewer_stands(
    alone: Alone, at: int | None, hidden: bool, values: list[str], link: str, query: str
) -> None:
    alone.show(PLACE, query="?tab=why", attributes='data-seen="1" data-head="1" data-may-edit="1"')
    tab = {"tab": "fix"} if at else {}
    alone.call("studio/place.js", SHOW_PLACE, {"seen": 1200, "head": 3400, "look": {"at": at, **tab}})
    assert alone.do(
        "[standing.hidden, document.querySelector('#follow-form').hidden]".replace(
            "standing.", "document.querySelector('#standing')."
        )
    ) == [hidden, hidden]
    assert (
        alone.do("[...document.querySelectorAll('[data-standing], [data-position]')].flatMap((e) => e.value ?? [])")
        == values
    )
    alone.do("tick(100)")
    assert alone.do("[document.querySelector('#objects').search, location.search]") == [link, query]
    texts = [alone.page.inner_text(place) for place in (".of-head", "#profile", "#scrub-says")]
    assert texts == ["/ 3,400", "default-scheduler", "1,200 / 3,400"]


def test_the_page_begins_with_what_the_server_rendered_it_for(alone: Alone) -> None:
    running = json.dumps({"kind": "play"})
    alone.show(
        PLACE, query="?tab=fix", attributes=f"data-seen='3' data-head='9' data-may-edit='0' data-running='{running}'"
    )
    state = alone.call("studio/state.js", "({ readState }) => readState()")
    assert state["look"]["tab"] == "fix"
    del state["look"]
    assert state == {"seen": 3, "head": 9, "running": {"kind": "play"}, "searching": None, "mayEdit": False}


# Toasts, tips, the theme, the drawer ----------------------------------------------------------------------------------------


def test_a_toast_stays_as_long_as_it_takes_to_read_it(alone: Alone) -> None:
    alone.show('<div id="toasts"></div>')
    for text in (None, "", "first", "x" * 200):
        alone.call("studio/toast.js", "({ toast }, text) => toast(text)", text)
    assert alone.page.locator(".toast").all_inner_texts() == ["x" * 200]
    alone.do("tick(11_999)")
    assert alone.page.locator(".toast").count() == 1
    alone.do("tick(1)")
    assert alone.page.locator(".toast").count() == 0


def test_a_tip_stays_on_the_screen_and_goes_with_escape(alone: Alone) -> None:
    style = "<style>#tip { position: fixed; width: 100px; height: 20px }</style>"
    alone.show(
        style
        + '<div id="tip" hidden></div><div class="lane"><svg><a href="#" aria-label="cycle 3"><text y="90">x</text></a></svg></div>'
    )
    alone.call("shared/tips.js", "({ showTip }) => showTip('far', 5000, 5)")
    assert alone.page.locator("#tip").bounding_box() == {"x": 1000 - 106, "y": 23, "width": 100, "height": 20}
    alone.page.focus(".lane a")
    assert alone.page.inner_text("#tip") == "cycle 3"
    alone.page.keyboard.press("Escape")
    assert alone.page.is_hidden("#tip")


def test_the_theme_is_the_systems_until_it_is_chosen_and_then_this_browsers(alone: Alone) -> None:
    alone.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    alone.show('<button id="theme-toggle">theme</button>')
    alone.do("localStorage.clear()")
    alone.call("shared/theme.js", "({ onTheme, theme }) => { hear(theme()); onTheme(() => hear(theme())); }")
    alone.page.emulate_media(color_scheme="dark")
    alone.page.click("#theme-toggle")
    assert alone.heard == ["light", "dark", "light"]
    alone.page.emulate_media(color_scheme="light")
    alone.page.emulate_media(color_scheme="dark")
    assert alone.call("shared/theme.js", "({ theme }) => theme()") == "light"
    assert alone.do("localStorage.getItem('theme')") == "light"


ROOM = """<details id="more"><summary>more</summary><a href="build/" data-drawer id="listed">build</a></details>
<a href="build/" data-drawer id="open">build</a><a href="build/" id="plain">plain</a>
<dialog id="drawer" class="drawer" tabindex="-1"><button data-drawer-close>close</button><div id="workbench"></div></dialog>"""


@pytest.fixture
def drawer(alone: Alone) -> Alone:
    alone.show(ROOM, query="?at=12")
    alone.answer("build/", '<div id="workbench"><p>built</p><input id="name"></div>')
    alone.call(DRAWER, "({ startDrawer }) => startDrawer()")
    return alone


def test_a_link_opens_beside_the_cluster_at_the_viewers_step(drawer: Alone) -> None:
    with drawer.page.expect_request("**/build/**") as request:
        drawer.page.click("#open")
    assert request.value.url.endswith("/s/key/build/?at=12")
    assert request.value.headers["x-drawer"] == "1"
    drawer.page.wait_for_selector("#drawer[open] #workbench p")


@pytest.mark.parametrize("way", ["Escape inside", "Escape outside", "button"])
def test_the_drawer_closes_and_the_focus_goes_back(drawer: Alone, way: str) -> None:
    drawer.page.click("#open")
    drawer.page.wait_for_selector("#drawer[open] #workbench p")
    if way == "button":
        drawer.page.click("[data-drawer-close]")
    else:
        drawer.page.press("#name" if way.endswith("inside") else "#plain", "Escape")
    drawer.page.wait_for_selector("#drawer", state="hidden")
    drawer.page.wait_for_function("document.activeElement.id === 'open'")


def test_what_a_menu_opened_gives_the_focus_back_to_the_menus_button_and_the_keys_to_the_studio(drawer: Alone) -> None:
    drawer.do("void document.addEventListener('keydown', ({ key }) => hear(key))")
    drawer.do("document.querySelector('#more').open = true")
    drawer.page.click("#listed")
    drawer.page.wait_for_selector("#drawer[open] #workbench p")
    drawer.do("document.querySelector('#more').open = false")
    drawer.page.press("#name", "Escape")
    drawer.page.wait_for_function("document.activeElement.tagName === 'SUMMARY'")
    drawer.do("document.querySelector('#drawer').focus()")
    drawer.page.keyboard.press("b")
    assert drawer.heard[-1:] == ["b"]


def test_an_opener_that_was_painted_anew_has_the_focus_afterwards(drawer: Alone) -> None:
    drawer.page.click("#open")
    drawer.page.wait_for_selector("#drawer[open] #workbench p")
    drawer.do("const old = document.querySelector('#open'); old.replaceWith(old.cloneNode(true))")
    drawer.page.press("#name", "Escape")
    drawer.page.wait_for_function("document.activeElement.id === 'open'")


def test_the_studios_keys_are_not_meant_in_the_drawer(drawer: Alone) -> None:
    drawer.do("void document.addEventListener('keydown', ({ key }) => hear(key))")
    drawer.do("document.querySelector('#drawer').show()")
    drawer.page.press("#drawer", "b")
    drawer.page.press("#plain", "b")
    assert drawer.heard == ["b"]


def test_an_answer_that_asks_is_shown_in_the_drawer_where_there_is_one(drawer: Alone) -> None:
    show = "({ showInDrawer }, text) => showInDrawer(text)"
    assert not drawer.call(DRAWER, show, "<p>no room</p>")
    assert drawer.call(DRAWER, show, '<html><body><div id="workbench">fork?</div></body></html>')
    assert drawer.page.inner_text("#drawer[open] #workbench") == "fork?"
    drawer.show('<div id="workbench"></div>')
    assert not drawer.call(DRAWER, show, '<div id="workbench">fork?</div>')


# Elements and latency -------------------------------------------------------------------------------------------------------


def test_an_element_that_a_page_must_have_is_missed_loudly(alone: Alone) -> None:
    alone.show('<p id="p">p</p>')
    the = "({ the }, id) => { try { the(id, HTMLInputElement); } catch ({ message }) { return message; } }"
    assert alone.call(DOM, the, "p") == "The page has no HTMLInputElement #p."
    assert alone.call(DOM, "({ maybe }) => maybe('p', HTMLInputElement)") is None
    assert alone.call(DOM, "({ by }) => by('p').textContent") == "p"


def test_the_time_from_an_action_to_the_picture_is_measured_once(alone: Alone) -> None:
    alone.show()
    measured = "performance.getEntriesByType('measure').map(({ name }) => name)"
    alone.call("studio/latency.js", "({ acted, answered }) => { answered(); acted(); answered(); answered(); }")
    alone.page.wait_for_function(f"{measured}.length > 1")
    assert alone.do(measured) == ["step to change", "step to paint"]
