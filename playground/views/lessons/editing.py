"""The editor of a lesson: its cards, their words, their questions, and the problems found."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from playground.lessons.authoring import (
    CheckResult,
    LessonFiles,
    Moment,
    SeenCard,
    SuggestedTask,
    Suggestion,
    Writing,
    pack_folder,
)  # fmt: skip
from playground.lessons.authoring.files import BadFile, read_files
from playground.lessons.authoring.writing import CARD_WORDS, LESSON_WORDS
from playground.lessons.format import LANGUAGES, TRACKS, Card, Question, Task
from playground.lessons.own import hand
from playground.models import OwnLesson
from playground.presenters.story import preview_card
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.web.publisher import render_panels
from playground.views.home import TRACK_NAMES
from playground.views.lessons import course
from playground.views.lessons.course import get_or_run_check, require_size, writes
from playground.views.lessons.making import get_lesson_language
from playground.views.lessons.words import default_words, of_findings, of_moment, of_question, of_task
from playground.views.responses import attach, whole_number

SPOTLIGHTS = ("map", "queue", "stage", "points", "timeline")
MOST_MINUTES = 90


class Change(NamedTuple):
    """The changed files, the next page (a language, `files`, `try`, `share`, `end`), and the card to show there."""

    files: LessonFiles
    goes: str = ""
    anchor: str = ""


def apply_changes(sent: QueryDict, files: LessonFiles, language: str, known: CheckResult) -> Change:
    """Apply all fields, then the pressed button: add, move, or remove a card, or go to another page."""
    writing = Writing(files, language)
    writing.say({name: _read_text(sent, name) for name in LESSON_WORDS if name in sent})
    if sent.get("track") in TRACKS:
        writing.plan["track"] = sent["track"]
    minutes = whole_number(_read_text(sent, "minutes"), 4)
    if minutes is not None:
        writing.plan["minutes"] = min(max(minutes, 1), MOST_MINUTES)
    suggested = {card.id: card.suggested for card in known.cards}
    for card in list(writing.cards):
        if f"{card['id']}.text" in sent:
            _take_card(sent, writing, str(card["id"]), suggested.get(str(card["id"]), ()))
    _take_task(sent, writing, known.tasks)
    anchor = _add_move_or_remove(sent, writing, known)
    goes = sent.get("goes", "")
    return Change(writing.files(), goes if goes in (*LANGUAGES, "files", "try", "share", "end") else "", anchor)


def _take_task(sent: QueryDict, writing: Writing, suggested: tuple[SuggestedTask, ...]) -> None:
    """Set the chosen task with the engine's solution and a first draft of the words. The present task stays if it is chosen again."""
    chosen = sent.get("goal")
    if chosen == "" and writing.plan.pop("task", None):
        for words in writing.words.values():
            words.pop("task", None)
    new = next((each for each in suggested if check_as_field(each.task) == chosen), None)
    if new is not None and writing.plan.get("task", {}).get("check") != new.task.check:
        acts = [msgspec.to_builtins(act) for act in new.task.solution]
        solution = [{name: value for name, value in act.items() if value} for act in acts]
        writing.plan["task"] = {"check": dict(new.task.check), "solution": solution}
        with override(writing.language):
            writing.said["task"] = of_task(new, "`")


def check_as_field(task: Task) -> str:
    """Return the condition of a task in the form's format."""
    return json.dumps(task.check, sort_keys=True)


def _take_card(sent: QueryDict, writing: Writing, card_id: str, suggested: tuple[Suggestion, ...]) -> None:
    said = {name: _read_text(sent, f"{card_id}.{name}") for name in CARD_WORDS if f"{card_id}.{name}" in sent}
    if f"{card_id}.spotlight" in sent:
        writing.set_on_card(card_id, "spotlight", sent[f"{card_id}.spotlight"][:100])
    asked = sent.get(f"{card_id}.question")
    if asked is not None:
        before = (writing.card(card_id) or {}).get("question")
        question = _question(asked)
        writing.set_on_card(card_id, "question", question)
        suggestion = next((each for each in suggested if as_field(each.question) == asked), None)
        if question is None:
            said |= {"ask": "", "right": "", "wrong": ""}
        elif suggestion is not None and question != before:
            defaults = default_words(suggestion, writing.language)
            said |= {name: text for name, text in defaults.items() if name == "ask" or not said.get(name)}
    writing.say_on_card(card_id, said)


def _question(asked: str) -> dict[str, object] | None:
    """Return a question in the plan's format, or None if there is none or it is invalid."""
    try:
        question = msgspec.json.decode(asked.encode(), type=Question)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None
    return serialize_question(question)


def serialize_question(question: Question) -> dict[str, object]:
    """Return a question in the plan's format, without empty fields."""
    data: dict[str, object] = msgspec.to_builtins(question)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in data.items() if value}


def as_field(question: Question) -> str:
    """Return a question in the form's format."""
    return json.dumps(serialize_question(question), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _add_move_or_remove(sent: QueryDict, writing: Writing, known: CheckResult) -> str:
    """Add, move, or remove a card. Return the fragment of the card to show afterwards."""
    if (removed := sent.get("remove")) and writing.card(removed):
        writing.remove_card(removed)
        return "#cards"
    moved, _colon, place = sent.get("move", "").partition(":")
    if writing.card(moved) and (number := whole_number(place, 3)) is not None:
        writing.move_card(moved, number)
        return f"#card-{moved}"
    position = sent.get("add", "")
    moment = next((each for each in known.moments if str(each.position) == position), None)
    if moment is not None:
        positions = {card.id: card.position for card in known.cards}
        ids = [str(card["id"]) for card in writing.cards]
        before = [number for number, each in enumerate(ids) if positions.get(each, -1) <= moment.position]
        return f"#card-{writing.add_card(moment.when, max(before, default=0) + 1)}"
    at = sent.get("at", "")
    return f"#card-{at}" if writing.card(at) else ""


def _read_text(sent: QueryDict, name: str) -> str:
    return sent.get(name, "").replace("\r\n", "\n").strip()


SPOTLIGHT_NAMES = {
    "map": gettext_lazy("the map of the nodes"),
    "queue": gettext_lazy("the queues"),
    "stage": gettext_lazy("the stage"),
    "points": gettext_lazy("the extension points"),
    "timeline": gettext_lazy("the timeline"),
}


class Choice(NamedTuple):
    """An option of a select."""

    value: str
    text: str
    chosen: bool
    key: str = ""
    drawn: bool = False


def page_of(files: LessonFiles, known: CheckResult, language: str) -> dict[str, Any]:
    """Return the editor's context: the lesson's own words, its cards, and the moments available for a card."""
    lesson = read_files(files)
    said = Writing(files, language).said
    seen = {card.id: card for card in known.cards}
    by_when = {_frozen(moment.when): moment for moment in known.moments}
    cards = [
        _card(number, card, seen.get(card.id), said["cards"].get(card.id) or {}, by_when)
        for number, card in enumerate(lesson.plan.cards, 1)
    ]
    return {
        "plan": lesson.plan,
        "said": said,
        "words": language,
        "cards": cards,
        "moments": _groups(
            known, {card["position"]: (card["number"], card["id"]) for card in cards if card["position"] >= 0}
        ),
        "questions": sum(bool(card["asks"]) for card in cards),
        "tasks": _list_tasks(lesson.plan.task, known),
    }


def _list_tasks(task: Task | None, known: CheckResult) -> list[Choice]:
    chosen = "" if task is None else check_as_field(task)
    found = [
        Choice(check_as_field(each.task), of_task(each), check_as_field(each.task) == chosen) for each in known.tasks
    ]
    if task is not None and not any(each.chosen for each in found):
        found.append(Choice(chosen, ", ".join(f"{word}: {value}" for word, value in task.check.items()), True))
    return found


def _card(
    number: int, card: Card, seen: SeenCard | None, words: Mapping[str, Any], moments: Mapping[str, Moment]
) -> dict[str, Any]:
    moment = moments.get(_frozen(card.when))
    chosen = as_field(card.question) if card.question is not None else ""
    questions = [
        Choice(as_field(each.question), of_question(each), as_field(each.question) == chosen, each.key, each.drawn)
        for each in (seen.suggested if seen is not None else ())
    ]
    if card.question is not None and not any(each.chosen for each in questions):
        answer = ", ".join(f"{word}: {value}" for word, value in card.question.answer.items())
        questions.append(Choice(chosen, answer, True, seen.key if seen is not None else ""))
    return {
        "id": card.id,
        "number": number,
        "moment": of_moment(moment) if moment is not None else "",
        "again": moment.number if moment is not None else 1,
        "when": seen.when if seen is not None else "",
        "position": seen.position if seen is not None else -1,
        "words": words,
        "asks": card.question is not None,
        "acts": card.do is not None,
        "key": seen.key if seen is not None else "",
        "questions": questions,
        "drawn": any(each.chosen and each.drawn for each in questions),
        "spotlights": _spotlights(card.spotlight),
    }


def _spotlights(chosen: str) -> list[Choice]:
    found = [Choice(name, str(SPOTLIGHT_NAMES[name]), name == chosen) for name in SPOTLIGHTS]
    if chosen and chosen not in SPOTLIGHTS:
        found.append(Choice(chosen, chosen, True))
    return found


def _groups(known: CheckResult, cards: Mapping[int, tuple[int, str]]) -> list[dict[str, Any]]:
    """Return the moments in order, with consecutive ones of the same pod in one group."""
    groups: list[dict[str, Any]] = []
    for moment in known.moments:
        if not groups or groups[-1]["pod"] != moment.pod:
            groups.append({"pod": moment.pod, "moments": []})
        groups[-1]["moments"].append(
            {
                "position": moment.position,
                "seconds": moment.seconds,
                "text": of_moment(moment),
                "again": moment.number,
                "card": cards.get(moment.position, (0, ""))[0],
                "card_id": cards.get(moment.position, (0, ""))[1],
            }
        )
    return groups


def _frozen(when: Mapping[str, Any]) -> str:
    return str(sorted((str(word), str(value)) for word, value in when.items()))


@writes("GET", "POST")
async def edit(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Show the lesson's cards as one form. Every button saves the whole form before its own action."""
    files = lessons.files_of(lesson)
    language = _language(request, files)
    if not await in_thread(_readable, files):
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    known = await get_or_run_check(request, lesson)
    if request.method == "POST":
        change = await in_thread(apply_changes, request.POST, files, language, known)
        await _keep(lesson, change.files)
        found = await get_or_run_check(request, lesson)
        return await _after(request, lesson, change.goes, change.anchor, bool(found.findings))
    context = await in_thread(page_of, files, known, language)
    ids = [card["id"] for card in context["cards"]]
    previews = await in_thread(_render_previews, request, lesson, files, known, ids, language)
    for card, drawn in zip(context["cards"], previews, strict=True):
        card["preview"] = drawn
    context |= {
        "lesson": lesson,
        "key": lesson.edit_key,
        "languages": LANGUAGES,
        "tracks": TRACK_NAMES,
        "problems": of_findings(known.findings),
        "share_link": _address(request, "own-lesson", lesson.key),
        "edit_link": _address(request, "edit-lesson", lesson.edit_key),
    }
    return render(request, "playground/lessons/edit.html", context)


@writes("POST")
async def preview(request: HttpRequest, lesson: OwnLesson, card: str) -> HttpResponse:
    """Show a card as learners see it, with the form's unsaved words."""
    files = lessons.files_of(lesson)
    known = lessons.get_check_result(lesson) or CheckResult(())
    language = _language(request, files)
    if not await in_thread(_readable, files):
        return HttpResponse(status=409)
    written = (await in_thread(apply_changes, request.POST, files, language, known)).files
    require_size(written)
    (drawn,) = await in_thread(_render_previews, request, lesson, written, known, [card], language)
    return HttpResponse(drawn)


def _render_previews(
    request: HttpRequest, lesson: OwnLesson, files: LessonFiles, known: CheckResult, cards: Sequence[str], language: str
) -> list[str]:
    """Draw cards by the template of the studio's lesson panel, in the language that is written."""
    written, data = read_files(files), lessons.document(lesson.draft)
    handed, options = hand(data) if data else None, {each.id: each.options for each in known.cards}
    panels = [preview_card(written, card, handed, options) for card in cards]
    with override(language):
        return ["" if each is None else render_panels({"story": each}, request)["story"] for each in panels]


def _language(request: HttpRequest, files: LessonFiles) -> str:
    """Return the language to write in: the requested one; else the page's, or another one in which the lesson has words."""
    asked = request.POST.get("words") or request.GET.get("words", "")
    if asked in LANGUAGES:
        return asked
    there = [language for language in LANGUAGES if files.words.get(language, "").strip()]
    own = get_lesson_language()
    return own if own in there or not there else there[0]


async def _keep(lesson: OwnLesson, files: LessonFiles) -> None:
    require_size(files)
    if files != lessons.files_of(lesson):
        await in_thread(lessons.write, lesson.pk, files)
        await in_thread(lesson.refresh_from_db)


async def _after(request: HttpRequest, lesson: OwnLesson, goes: str, anchor: str, wrong: bool) -> HttpResponse:
    """Redirect to the editor at the changed card, in another language, to the files, or to a try."""
    page = reverse("edit-lesson", args=[lesson.edit_key])
    if goes == "try":
        return await course.try_out(request, lesson)
    if goes == "files":
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    if goes in LANGUAGES:
        return HttpResponseRedirect(f"{page}?words={goes}")
    if goes in ("share", "end"):
        anchor = f"#{goes}"
    if not anchor:
        said = (
            _("Saved. The lesson has problems to fix.") if wrong else _("Saved. The lesson can be played to its end.")
        )
        (messages.warning if wrong else messages.success)(request, said)
    return HttpResponseRedirect(f"{page}?words={_language(request, lessons.files_of(lesson))}{anchor}")


@writes("GET", "POST")
async def files(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Show the lesson's files."""
    if request.method == "POST":
        sent = {language: _text(request, language) for language in LANGUAGES}
        await _keep(lesson, LessonFiles(_text(request, "plan"), sent))
        await get_or_run_check(request, lesson)
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    known = await get_or_run_check(request, lesson)
    written = lessons.files_of(lesson)
    readable = await in_thread(_readable, written)
    rooms = [("plan", "lesson.yaml", written.plan)]
    rooms += [(language, f"{language}.yaml", written.words[language]) for language in LANGUAGES]
    context = {
        "lesson": lesson,
        "key": lesson.edit_key,
        "rooms": rooms,
        "problems": of_findings(known.findings),
        "readable": readable,
    }
    return render(request, "playground/lessons/files.html", context)


def _readable(files: LessonFiles) -> bool:
    """Return whether the files can be shown as cards."""
    try:
        read_files(files)
    except BadFile:
        return False
    return True


def _text(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\r\n", "\n")


@writes("GET")
async def download(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Return the lesson's folder as a zip."""
    written = lessons.files_of(lesson)
    known = await get_or_run_check(request, lesson)
    name = slugify(next(iter(known.titles.values()), ""))[:60] or "lesson"
    return attach(pack_folder(name, written), "application/zip", f"{name}.zip")


@writes("POST")
async def delete(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Delete the lesson; sessions started with it keep their copies."""
    await in_thread(lessons.delete, lesson.pk)
    messages.success(request, _("Lesson deleted."))
    return HttpResponseRedirect(reverse("own-lessons"))


def _address(request: HttpRequest, name: str, key: str) -> str:
    return request.build_absolute_uri(reverse(name, args=[key]))
