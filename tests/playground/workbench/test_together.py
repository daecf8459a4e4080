"""Several people change one session at once: everything that was saved is there, and what was refused comes back."""

from __future__ import annotations

import asyncio
from html import unescape

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from playground.sessions.database import log
from playground.sessions.protocol.errors import Conflict, EngineFailed, SessionError, SessionGone
from playground.sessions.web.changes import Changes
from tests.playground.workbench.conftest import Visitor, page_text
from tests.playground.workbench.test_configuration import SETTINGS

EDITORS, SAVES = 3, 25
NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: {}}}\nstatus: {{allocatable: {{cpu: '2', pods: '10'}}}}\n"
FAULTS = [
    Conflict("Somebody was first."),
    EngineFailed("The engine broke."),
    SessionGone("This session was deleted."),
    SessionError("Something else."),
]
# What fields hold a text, by form.
TEXTS = {
    "yaml": {"text": NODE.format("mine"), "replace": ""},
    "configuration": {"text": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"},
    "import": {"text": NODE.format("mine")},
    "build/nodes": {"count": "2", "name": "mine-{i}", "first": "1", "cpu": "1", "memory": "1Gi", "pods": "10"},
    "settings": {**SETTINGS, "bind_cost": "1.25s"},
    "calls": {"call": "bind", "pod": "default/mine", "times": "2", "code": "500"},
}  # fmt: skip


def test_three_editors_save_at_the_same_time_and_nothing_is_lost(visitor) -> None:
    begun = visitor("empty")

    async def editor(who: str) -> list[int]:
        browser = AsyncClient()
        return [
            (await browser.post(f"{begun.url}yaml", {"text": NODE.format(f"{who}-{i}"), "create": ""})).status_code
            for i in range(SAVES)
        ]

    async def together() -> list[list[int]]:
        return await asyncio.gather(*(editor(f"editor-{number}") for number in range(EDITORS)))

    assert async_to_sync(together)() == [[302] * SAVES] * EDITORS
    names = sorted(f"editor-{number}-{i}" for number in range(EDITORS) for i in range(SAVES))
    assert sorted(begun.objects("Node")) == names


def test_of_two_who_create_the_same_name_at_once_one_is_told_so(visitor) -> None:
    begun = visitor("empty")

    async def create(cpu: str) -> int:
        fields = {"text": NODE.format("same").replace("'2'", f"'{cpu}'"), "create": ""}
        return (await AsyncClient().post(f"{begun.url}yaml", fields)).status_code

    async def together() -> list[int]:
        return await asyncio.gather(*(create(str(cpu)) for cpu in range(1, 7)))

    assert sorted(async_to_sync(together)()) == [302, *[422] * 5]


def test_imports_that_are_looked_at_side_by_side_are_all_applied(visitor) -> None:
    begun = visitor("empty")
    tabs = [begun.post("import", text=NODE.format(f"tab-{number}"))["Location"] for number in range(4)]
    tokens = [begun.browser.get(tab).context["plan"]["token"] for tab in tabs]
    assert [begun.post("import/apply", token=token).status_code for token in reversed(tokens)] == [302] * 4
    assert sorted(begun.objects("Node")) == [f"tab-{number}" for number in range(4)]


def test_three_people_import_at_the_same_time(visitor) -> None:
    begun = visitor("empty")

    async def importer(who: str) -> list[int]:
        browser, answers = AsyncClient(), []
        for i in range(5):
            shown = await browser.post(f"{begun.url}import", {"text": NODE.format(f"{who}-{i}")})
            token = shown["Location"].split("token=")[1]
            answers.append((await browser.post(f"{begun.url}import/apply", {"token": token})).status_code)
        return answers

    async def together() -> list[list[int]]:
        return await asyncio.gather(*(importer(f"importer-{number}") for number in range(EDITORS)))

    assert async_to_sync(together)() == [[302] * 5] * EDITORS
    assert len(begun.objects("Node")) == 5 * EDITORS


def test_saving_what_is_there_already_says_so(visitor) -> None:
    begun = visitor("empty")
    begun.post("yaml", text=NODE.format("mine"), create="")
    again = begun.post("yaml", text=NODE.format("mine"), replace="")
    assert again.status_code == 422
    assert "The cluster already has everything" in page_text(again)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.kind)
@pytest.mark.parametrize("form", TEXTS)
def test_whatever_goes_wrong_the_form_comes_back_as_it_was_filled_in(
    visitor, form: str, fault: SessionError, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = visitor("empty")

    async def fails(*_: object) -> None:
        raise fault

    for change in ("apply", "apply_text", "preview"):
        monkeypatch.setattr(Changes, change, fails)
    came_back(begun, form, fault.status, fault.message)


@pytest.mark.parametrize("form", TEXTS)
def test_a_session_that_was_deleted_meanwhile_gives_the_form_back(visitor, form: str) -> None:
    begun = visitor("empty")
    log.delete(begun.session.pk)
    came_back(begun, form, 404, "No session has this link")


def came_back(begun: Visitor, form: str, status: int, said: str) -> None:
    answer = begun.post(form, **TEXTS[form])
    assert answer.status_code == status
    assert said in page_text(answer)
    shown = unescape(answer.content.decode())
    assert [value for value in TEXTS[form].values() if value not in shown] == []
