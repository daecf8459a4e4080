"""A session of one's own on a running server, made and moved over HTTP; no browser is needed to get to a step."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from playwright.sync_api import APIResponse, BrowserContext

from scheduler_core.apimachinery.objects.manifest import Manifest

TOKEN = re.compile(r"name=\"csrfmiddlewaretoken\" value=\"(\w+)\"")
STEP = re.compile(r"<ol class=\"recorded\".*?[?&;]at=(\d+)", re.DOTALL)
HEAD = re.compile(r"data-position=\"(\d+)\"")
PREVIEW = re.compile(r"token=([\w:-]+)")
MOST_MILLISECONDS = 120_000


class Session:
    """One session; `url` is its studio."""

    def __init__(
        self, context: BrowserContext, server: str, start: str = "empty", name: str = "", **fields: str
    ) -> None:
        self.context = context
        self.server = server
        self.url = f"{server}/"
        self.token = self._token()
        self._moved(self.post("new", start=start, name=name, **fields))

    def apply(self, *objects: Manifest) -> None:
        """Import objects as one command."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        preview = self.post("import", text=text)
        token = PREVIEW.search(preview.url)
        assert token, f"the import was not previewed: {preview.url}"
        self.post("import/apply", token=token[1])

    def configure(self, configuration: Manifest) -> None:
        """Apply a KubeSchedulerConfiguration."""
        self.post("configuration", text=json.dumps(configuration))

    def until(self, times: int = 1, **record: str) -> int:
        """Go on to the step where such a record is made, for the so many-th time; the step."""
        self.post("breakpoints", **record)
        number = re.findall(r"breakpoints/(\d+)", self.get("breakpoints"))[-1]
        for _time in range(times):
            self.post("search", direction="forward", only=number)
        self.post(f"breakpoints/{number}", do="delete")
        found = HEAD.search(self.get("panel/transport"))
        assert found, "the transport tells no step"
        return int(found[1])

    def run(self) -> None:
        """Go on until nothing is left to do."""
        self.post("run")
        while 'data-idle="1"' not in self.get("panel/transport"):
            time.sleep(0.05)

    def step_of(self, **record: str) -> int:
        """The last step where such a record was made."""
        found = STEP.search(self.get("records", **record))
        assert found, f"nothing of the kind has happened: {record}"
        return int(found[1])

    def fork(self, name: str) -> Session:
        """Another session with the same past."""
        twin = object.__new__(Session)
        twin.context, twin.server, twin.url, twin.token = self.context, self.server, self.url, self.token
        twin._moved(twin.post("fork"))
        twin.post("rename", name=name)
        return twin

    def without(self, position: int) -> Session:
        """The same history made again without the command at a position, as a branch."""
        told = self.post("rerun", only=str(position)).text()
        twin = object.__new__(Session)
        twin.context, twin.server, twin.token = self.context, self.server, self.token
        twin.url = self.server + re.findall(r"href=\"(/s/[\w-]+/)\"", told)[-1]
        return twin

    def at(self, page: str = "", **look: object) -> str:
        """The address of a page of the session, with a look."""
        return f"{self.url}{page}" + (f"?{urlencode(look)}" if look else "")

    def get(self, page: str, **query: str) -> str:
        """A page's text."""
        return _good(self.context.request.get(self.at(page, **query))).text()

    def post(self, page: str, **form: str) -> APIResponse:
        """Send a form as the page's own would be."""
        return _good(
            self.context.request.post(
                self.at(page),
                form={"csrfmiddlewaretoken": self.token, **form},
                headers={"Referer": self.url},
                timeout=MOST_MILLISECONDS,
            )
        )

    def _token(self) -> str:
        found = TOKEN.search(_good(self.context.request.get(self.server)).text())
        assert found, "the first page has no form"
        return found[1]

    def _moved(self, answer: APIResponse) -> None:
        self.url = answer.url.partition("?")[0]
        assert "/s/" in self.url, f"no session: {self.url}"


def _good(answer: APIResponse) -> APIResponse:
    assert answer.ok, f"{answer.status} of {answer.url}: {answer.text()[:2000]}"
    return answer


def objects(*groups: Sequence[Manifest] | Manifest) -> list[Manifest]:
    """Manifests and lists of them as one list."""
    return [one for group in groups for one in ([group] if isinstance(group, Mapping) else group)]
