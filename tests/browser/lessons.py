"""A learner in a real browser: answers by the studio's own controls, takes what cards offer, and does a lesson's task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec
import yaml
from playwright.sync_api import Locator, Page, Route, expect

from playground.lessons import Card, Lesson, Playthrough, Question, command_of, fill_placeholders
from playground.lessons.checking import wrong_answer
from playground.lessons.judging import as_text
from scheduler_core.world.commands import (
    ApplyObjects,
    Command,
    DecidePermit,
    DefinePlugin,
    DeleteObjects,
    DrainNode,
    FailCall,
    PartitionScheduler,
    PatchObject,
    Ref,
    SetConfiguration,
    SetSettings,
    StartScheduler,
    StopScheduler,
)
from tests.browser.studio import connected, position

SLOW = 60_000  # ms: a run through a lesson's waiting times, on a machine that does other things too
FURTHEST = 2_000  # steps that a task's world goes on at the most: some worlds never come to rest


class Learner:
    """Somebody who goes through one lesson on a page."""

    def __init__(self, page: Page, lesson: Lesson, played: Playthrough, language: str) -> None:
        self.page, self.lesson, self.played = page, lesson, played
        self.words = lesson.words[language]
        self.panel = page.locator("#panel-story")

    def begin(self, url: str) -> None:
        """From the page of all lessons to the first card."""
        self.page.goto(f"{url}/lessons/")
        button = self.page.locator(f'[data-lesson="{self.lesson.slug}"] button[name=start]')
        track = self.page.locator(".track > details").filter(has=button)
        if track.get_attribute("open") is None:  # on a phone
            track.locator("summary").first.click()
        button.click()
        connected(self.page)
        if self.panel.get_attribute("data-card") is None:
            self._next()
        self.stands_at(1)

    def stands_at(self, number: int) -> Card:
        """Wait until the lesson shows this card, with its words."""
        expect(self.panel).to_have_attribute("data-card", str(number), timeout=SLOW)
        card = self.lesson.plan.cards[number - 1]
        expect(self.panel.locator("header")).to_contain_text(f"{number} / {len(self.lesson.plan.cards)}")
        return card

    def answer(self, card: Card) -> None:
        """Answer wrongly, and after the hints rightly; what is said is what the lesson says then."""
        assert card.question is not None
        key, options = self.played.keys[card.id], self.played.options[card.id]
        right = key if isinstance(key, tuple) else (as_text(key),)
        said = self.panel.locator("#lesson-answer .verdict")
        for names in (wrong_answer(card.question, key, options), right):
            self._give(card.question, names)
            self.panel.locator(".answers.primary").click()
            expect(said).to_be_in_viewport()
            if not self.panel.locator("#lesson-answer [data-again]").count():  # two options leave no second try
                break
        expect(self.panel.locator("#lesson-answer :is(.verdict.right, .verdict.wrong)")).to_be_in_viewport()
        expect(self.page.locator("body:not([data-covered])")).to_be_visible()

    def _give(self, question: Question, names: tuple[str, ...]) -> None:
        form = self.panel.locator("form.question")
        if question.kind == "number":
            form.locator("input[name=answer]").fill(names[0])
        elif question.kind == "order":
            for place, name in enumerate(names):
                form.locator("select").nth(place).select_option(name)
        elif question.kind == "victims":
            for option in form.locator("input[name=answer]").all():
                option.set_checked(option.get_attribute("value") in names)
        elif question.kind in ("node", "pod") and (shown := self._on_the_studio(question.kind, names[0])):
            shown.click()
            expect(self._option(form, names[0])).to_be_checked()
        else:
            self._option(form, names[0]).check()

    def _on_the_studio(self, kind: str, name: str) -> Locator | None:
        """Where a node or pod can be clicked; None where nothing of it is in sight."""
        key = name if kind == "node" or "/" in name else f"default/{name}"
        # Looked for anew at the click: an update of the page may have changed which one is in sight.
        places = self.page.locator(f':is(#stage, #rail) [data-{kind}="{key}"]').filter(visible=True)
        return places.first if places.count() else None

    @staticmethod
    def _option(form: Locator, name: str) -> Locator:
        return form.locator(f'input[name=answer][value="{name}"]')

    def go_on(self, number: int, card: Card, by_next: bool = False) -> None:
        """Take what the card offers, then Next as long as the next card has not come; or both by Next."""
        if card.do is not None and not by_next:
            before = position(self.page)
            offer = fill_placeholders(self.words.cards[card.id].do, self.played.values_at(card.id))
            self.panel.get_by_role("button", name=offer, exact=True).click()
            expect(self.page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
        elif card.do is not None:
            self.page.route("**/story/*", self._replace_card, times=1)
        if self.panel.get_attribute("data-card") == str(number):
            self._next()
        self.stands_at(number + 1)

    def _replace_card(self, route: Route) -> None:
        """Replace the card before the answer to its form has come, as the stream may."""
        self.panel.evaluate("card => card.replaceWith(card.cloneNode(true))")
        route.continue_()

    def _next(self) -> None:
        self.panel.locator(".lesson-transport :is(form button, a:last-child)").click()

    def spotlit(self) -> int:
        """How many parts of the studio are marked as what the card speaks of, and are in sight."""
        return sum(part.is_visible() for part in self.page.locator(".spotlit").all())

    def do_the_task(self, url: str) -> None:
        """On the fork, by the lesson's own solution; what is a long way of forms goes to the server as the forms would send it."""
        here = self.page.url
        begin = self.panel.locator("form[action='lesson/task'] button")
        expect(begin).to_be_in_viewport()
        begin.click()
        self.page.wait_for_url(lambda address: address.partition("?")[0] != here.partition("?")[0], timeout=SLOW)
        connected(self.page)
        expect(self.panel.locator(".lesson-end")).to_be_visible()
        expect(self.panel.locator(".lesson-end .verdict.right")).to_have_count(0)
        fixes = self.page.locator(":is(.ask-fixes, .best-fix, .findings .act, #tab-fix):visible")
        expect(fixes).to_have_count(0)
        hint = self.panel.locator(".tools details")
        hint.locator("summary").click()
        expect(hint.locator("a")).to_be_in_viewport()  # the fixes stand behind the hint
        solver = Solver(self.page)
        for act in self.lesson.plan.task.solution:
            solver.carry_out(command_of(act))
            if act.until is None:
                solver.settle()
        self.page.reload()
        connected(self.page)
        expect(self.panel.locator(".lesson-end .verdict.right")).to_be_in_viewport(timeout=SLOW)

    def leads_on(self) -> None:
        """The next lesson, where there is one, begins."""
        if not self.lesson.plan.next:
            return
        self.panel.locator(f"button[value='story:{self.lesson.plan.next}']").click()
        connected(self.page)
        expect(self.panel.get_by_role("heading").first).not_to_have_text(self.words.title)


class Solver:
    """Does on a page's session what the forms of the workbench do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        found = re.match(r".*/s/[^/]+/", page.url)
        assert found is not None
        self.base = found[0]

    def post(self, path: str, **fields: str) -> None:
        """Send a form; a refusal fails the test."""
        token = next(each["value"] for each in self.page.context.cookies() if each["name"] == "csrftoken")
        answer = self.page.request.post(
            self.base + path, form={"csrfmiddlewaretoken": token, **fields}, headers={"Referer": self.base}
        )
        assert answer.ok, f"{path} {fields}: {answer.status} {answer.text()[:2000]}"

    def settle(self) -> None:
        """Let the world go on to its end, or far enough."""
        furthest = position(self.page) + FURTHEST
        self.post("run", until="step", number=str(furthest))
        idle_or_there = "([furthest]) => { const t = document.getElementById('panel-transport').dataset;"
        idle_or_there += " return t.idle === '1' || Number(t.position) >= furthest }"
        self.page.wait_for_function(idle_or_there, arg=[furthest], timeout=SLOW)
        expect(self.page.locator("#job")).to_be_hidden()

    def carry_out(self, command: Command) -> None:
        match command:
            case ApplyObjects(objects=manifests):
                self.post("yaml", text=yaml.safe_dump_all(list(map(plain, manifests))), replace="1")
            case PatchObject(ref=ref, patch=patch):
                self.post("yaml", text=yaml.safe_dump(merged(self.manifest(ref), patch)), replace="1")
            case DeleteObjects(refs=refs):
                for ref in refs:
                    self.post("objects/delete", kind=ref.kind, namespace=ref.namespace or "", name=ref.name)
            case SetConfiguration(configuration=configuration, scheduler=scheduler):
                self.post("configuration", text=yaml.safe_dump(plain(configuration)), scheduler=scheduler)
            case DefinePlugin(plugin=plugin, definition=definition):
                fields = msgspec.to_builtins(definition)
                self.post("plugins", plugin=plugin, weight="1", **fields)
            case SetSettings(settings={"cluster": {"kubelets": kubelets}}):
                self.page.goto(self.base + "components")
                self.page.locator("[name=kubelets]").fill(yaml.safe_dump(plain(kubelets)))
                with self.page.expect_response(lambda answer: answer.request.method == "POST") as told:
                    self.page.locator("[name=kubelets]").evaluate("field => field.form.requestSubmit()")
                assert told.value.ok or told.value.status in (302, 303)
                self.page.goto(self.base)
                connected(self.page)
            case FailCall(pod=pod, call=call, times=0):
                self.post("calls", pod=pod, call=call, back="1")
            case FailCall(pod=pod, call=call, code=code, times=times):
                self.post("calls", pod=pod, call=call, code=str(code), times=str(times))
            case DecidePermit(pod=pod, decision=decision):
                self.post("permit", pod=pod, decision=decision)
            case DrainNode(node=node, force=force):
                self.post("act/drain", kind="Node", name=node, **({"force": "on"} if force else {}))
            case StartScheduler(name=name, configuration=configuration):
                self.post("act/start-scheduler", kind="Scheduler", host=name, clock_rate="1")
                if configuration is not None:
                    self.post("configuration", text=yaml.safe_dump(plain(configuration)), scheduler=name)
            case StopScheduler(name=name, signal=signal):
                act = "end" if signal == "SIGTERM" else "kill"
                self.post(f"act/{act}-scheduler", kind="Scheduler", name=name)
            case PartitionScheduler(name=name, partitioned=partitioned):
                act = "cut-off" if partitioned else "connect"
                self.post(f"act/{act}-scheduler", kind="Scheduler", name=name)
            case _:
                raise AssertionError(f"no form is known for {command}")

    def manifest(self, ref: Ref) -> dict[str, Any]:
        """An object as the editor of the workbench shows it."""
        query = {"kind": ref.kind, "namespace": ref.namespace or "", "name": ref.name}
        page = self.page.context.new_page()
        page.goto(f"{self.base}yaml?{urlencode(query)}")
        text = page.locator("textarea[name=text]").input_value()
        page.close()
        manifest: dict[str, Any] = yaml.safe_load(text)
        return manifest


def plain(value: Any) -> Any:
    """Mappings and sequences as dicts and lists, for YAML."""
    return msgspec.to_builtins(value)


def merged(manifest: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return patch
    changed = dict(manifest) if isinstance(manifest, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            changed.pop(key, None)
        else:
            changed[key] = merged(changed.get(key), value)
    return changed
