"""workbench.js and workbench/: the editor, files that are dropped, links that are copied, and forms that come back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.modules.conftest import Alone

EDITOR, DROP, COPY = "workbench/editor.js", "workbench/drop.js", "workbench/copy.js"
STYLE = "<style>textarea { font: 16px/20px monospace; padding: 4px; height: 300px; width: 400px }</style>"
ERRORS = """<ul id="editor-errors"><li data-line="3"><code>bad</code> line</li><li data-line="3"><code>worse</code></li>
<li data-line="30">far</li></ul>"""
START = "({ startEditor }) => startEditor(document.querySelector('[data-editor]'))"


def editor(alone: Alone, text: str, errors: str = "") -> Alone:
    field = f'<form id="form"><div data-editor><textarea id="text">{text}</textarea></div><button>save</button></form>'
    alone.show(STYLE + field + errors + '<button id="after">after</button>')
    alone.call(EDITOR, START)
    return alone


def value(alone: Alone) -> str:
    text: str = alone.page.input_value("#text")
    return text


def test_lines_are_numbered_as_they_are_written(alone: Alone) -> None:
    editor(alone, "a\nb")
    alone.call(EDITOR, START)  # once is enough
    alone.page.press("#text", "Control+End")
    alone.page.keyboard.press("Enter")
    assert alone.page.locator(".gutter i").all_inner_texts() == ["1", "2", "3"]


def test_errors_stand_at_their_lines_until_something_is_written(alone: Alone) -> None:
    editor(alone, "\n".join(map(str, range(1, 41))), ERRORS)
    assert alone.page.locator(".gutter .wrong").all_inner_texts() == ["3", "30"]
    assert alone.page.locator(".squiggles span").all_inner_texts() == ["bad; worse", "far"]
    assert alone.page.locator(".squiggles div").first.evaluate("(line) => line.style.top") == "44px"
    alone.page.keyboard.type("x")
    assert alone.page.locator(".squiggles span").count() == 0
    assert value(alone).split("\n")[2] == "x3"


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_an_error_leads_to_its_line(alone: Alone, way: str) -> None:
    editor(alone, "\n".join(map(str, range(1, 41))), ERRORS)
    item = alone.page.locator("#editor-errors li [role=link]").last
    item.click() if way == "click" else item.press("Enter")
    alone.page.keyboard.type("x")
    assert value(alone).split("\n")[29] == "x30"
    assert alone.do("document.querySelector('#text').scrollTop") == 24 * 20
    alone.page.wait_for_function("document.querySelector('.gutter div').style.transform === 'translateY(-480px)'")


@pytest.mark.parametrize(
    ("text", "selected", "key", "indented"),
    [
        ("ab", (1, 1), "Tab", "a  b"),
        ("a\n\nb\nc", (0, 4), "Tab", "  a\n\n  b\nc"),
        ("   a\n b\nc", (5, 8), "Shift+Tab", "   a\nb\nc"),
        ("   a\n b", (0, 7), "Shift+Tab", " a\nb"),
        ("  a", (3, 3), "Shift+Tab", "a"),
    ],
)
def test_tab_indents_what_is_selected(
    alone: Alone, text: str, selected: tuple[int, int], key: str, indented: str
) -> None:
    editor(alone, text)
    alone.page.focus("#text")
    alone.page.evaluate("([from, to]) => document.querySelector('#text').setSelectionRange(from, to)", list(selected))
    alone.page.keyboard.press(key)
    assert value(alone) == indented
    alone.page.keyboard.press("Control+z")
    assert value(alone) == text


def test_escape_and_tab_leave_the_editor_and_control_enter_saves(alone: Alone) -> None:
    editor(alone, "a")
    alone.do("void addEventListener('submit', (event) => (hear('saved'), event.preventDefault()))")
    alone.page.press("#text", "Control+Enter")
    assert alone.heard == ["saved"]
    alone.page.keyboard.press("Escape")
    alone.page.keyboard.press("Tab")
    assert (value(alone), alone.do("document.activeElement.textContent")) == ("a", "save")


BOX = """<form id="form"><div data-drop id="box"><p id="inner">drop here</p><input type="file" name="file"></div></form>"""
DRAGGED = """(kind, file) => {
  const dataTransfer = new DataTransfer();
  if (file) dataTransfer.items.add(new File(["kind: Pod"], file));
  else dataTransfer.setData("text/plain", "text");
  const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true, relatedTarget: document.body });
  document.querySelector("#inner").dispatchEvent(event);
  return [event.defaultPrevented, document.querySelector("#box").className];
}"""


def dragged(alone: Alone, kind: str, file: str) -> Any:
    return alone.page.evaluate(f"([kind, file]) => ({DRAGGED})(kind, file)", [kind, file])


def test_a_dropped_file_is_sent_as_if_it_had_been_chosen(alone: Alone) -> None:
    alone.show(BOX)
    alone.call(DROP, "({ startDrop }) => startDrop(document.querySelector('#box'))")
    submitted = "(event) => { event.preventDefault(); hear(new FormData(event.target).get('file').name); }"
    alone.do(f"void addEventListener('submit', {submitted})")
    assert dragged(alone, "dragover", "pods.yaml") == [True, "over"]
    assert dragged(alone, "dragleave", "pods.yaml") == [False, ""]
    assert dragged(alone, "dragover", "") == [False, ""]
    assert dragged(alone, "drop", "") == [False, ""]
    assert alone.heard == []
    assert dragged(alone, "drop", "pods.yaml") == [True, ""]
    assert alone.heard == ["pods.yaml"]


@pytest.mark.parametrize(("allowed", "says"), [(True, "Copied"), (False, "Copy")])
def test_a_copy_button_copies_its_field_or_selects_it(alone: Alone, allowed: bool, says: str) -> None:
    alone.show(
        '<div id="box"><input id="link" value="/s/x/"><button hidden data-copies="link" data-done="Copied">Copy</button></div>'
    )
    alone.page.evaluate(
        "(allowed) => void (navigator.clipboard.writeText = async (text) => { hear(text); if (!allowed) throw 0; })",
        allowed,
    )
    alone.call(COPY, "({ startCopy }) => startCopy(document.querySelector('#box'))")
    alone.page.click("button")
    assert (alone.heard, alone.page.inner_text("button")) == (["/s/x/"], says)
    assert alone.do("getSelection().toString()") == "/s/x/"


def test_what_is_too_large_is_told_before_it_is_sent(alone: Alone) -> None:
    box = '<div id="box" data-most="8" data-too-large="too large"><textarea id="text"></textarea></div>'
    alone.show(box)
    alone.call("workbench/size.js", "({ startSize }) => startSize(document.querySelector('#box'))")
    said = "document.querySelector('#text').validationMessage"
    alone.page.fill("#text", "äöüä")
    assert alone.do(said) == ""
    alone.page.fill("#text", "äöüäx")
    assert alone.do(said) == "too large"
    alone.page.fill("#text", "x")
    assert alone.do(said) == ""


WORKBENCH = """<div id="messages"></div><div id="workbench"><form hx-post="save" hx-target="#workbench" hx-swap="outerHTML">
<input name="name"><button id="save">save</button></form></div>
<form hx-post="step" hx-target="#messages"><button id="step">step</button></form>"""
DRAWER = '<dialog id="drawer"></dialog>'
REFUSED = """<div id="workbench"><p>long</p><div class="field wrong"><input id="wrong" name="name"></div>
<div data-editor><textarea id="text">a</textarea></div></div>"""


def workbench(alone: Alone, path: str, text: str, status: int, asks: bool = False, form: bool = False) -> None:
    """The page, with what a form is answered."""
    headers = {"X-Asks": "1"} if asks else {"X-Form": "back"} if form else {}
    alone.answer(path, text, status, headers=headers)
    alone.call("workbench.js", "() => {}")


def test_a_refused_form_comes_back_with_its_errors_and_an_editor_that_works(alone: Alone) -> None:
    alone.show(WORKBENCH)
    workbench(alone, "save", REFUSED, 422)
    alone.page.click("#save")
    alone.page.wait_for_selector("#wrong")
    alone.do("tick(1000)")
    assert alone.do("document.activeElement.id") == "wrong"
    assert alone.page.locator(".gutter i").count() == 1


def test_a_form_comes_back_whatever_the_status(alone: Alone) -> None:
    alone.show(WORKBENCH)
    workbench(alone, "save", '<div id="workbench">the disk is full</div>', 507, form=True)
    alone.page.click("#save")
    alone.page.wait_for_selector("#workbench:text('the disk is full')")


def test_a_failure_is_not_put_into_the_page(alone: Alone) -> None:
    alone.show(WORKBENCH)
    workbench(alone, "save", "<p>broken</p>", 500)
    with alone.page.expect_response("**/save"):
        alone.page.click("#save")
    assert alone.page.locator("#save").count() == 1


@pytest.mark.parametrize("status", [413, 500, 503])
def test_what_can_not_be_done_is_said_above_the_form(alone: Alone, status: int) -> None:
    alone.show(WORKBENCH)
    said = '<main><div id="workbench"><div class="refusal"><h2>in a moment</h2></div></div></main>'
    workbench(alone, "save", said, status)
    for _again in range(2):
        with alone.page.expect_response("**/save"):
            alone.page.click("#save")
        alone.page.wait_for_selector("#workbench > .refusal:has-text('in a moment')")
    assert alone.page.locator(".refusal").count() == alone.page.locator("#save").count() == 1


@pytest.mark.parametrize(("drawer", "shown"), [(DRAWER, True), ("", False)])
def test_an_answer_that_asks_is_shown_in_the_drawer(alone: Alone, drawer: str, shown: bool) -> None:
    alone.show(
        WORKBENCH.replace('<div id="workbench">', f'{drawer}<div id="workbench">').replace("</dialog>", "")
        + "</dialog>" * bool(drawer)
    )
    workbench(alone, "step", '<div id="workbench">fork?</div>', 409, asks=True)
    with alone.page.expect_response("**/step"):
        alone.page.evaluate("document.querySelector('#step').click()")
    alone.page.wait_for_timeout(1) if not shown else alone.page.wait_for_selector(
        "#workbench:text('fork?')", state="attached"
    )
    assert ("fork?" in (alone.page.text_content("#workbench") or "")) is shown
