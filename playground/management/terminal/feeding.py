"""A session that shows a mirrored cluster: its objects are imported through the session's own pages, and deleted through its API."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.cookiejar import CookieJar
from queue import Empty, SimpleQueue
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

from playground.management.door import read_link
from playground.management.terminal.watching import Key, Manifest
from scheduler_core.world.readonly import KINDS

TOGETHER = 1.0  # seconds in which changes come together to one import
WAIT = 120.0  # seconds for an answer


class Pages:
    """The pages of a session, asked as a browser asks them."""

    def __init__(self, link: str) -> None:
        base, key = read_link(link)
        self.link, self._cookies = f"{base}/s/{key}", CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))

    def post(self, page: str, **fields: str) -> str:
        """Send a form, and return the address that it leads to."""
        if not self._token():
            self.ask("")  # gives the cookie whose value each form carries
        return self.read(page, urlencode({**fields, "csrfmiddlewaretoken": self._token()}).encode())[0]

    def _token(self) -> str:
        return next((cookie.value or "" for cookie in self._cookies if cookie.name.endswith("csrftoken")), "")

    def ask(self, page: str, method: str | None = None) -> bytes:
        """Return what a page answers."""
        return self.read(page, method=method)[1]

    def read(
        self, page: str, body: bytes | None = None, method: str | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[str, bytes]:
        """Return the address that a request leads to, and the answer."""
        headers = {"Referer": f"{self.link}/", **(headers or {})}
        address = page if "://" in page else f"{self.link}/{page}"
        request = Request(address, body, headers, method=method)  # noqa: S310 - http or https, see read_link
        with self._opener.open(request, timeout=WAIT) as answer:
            return str(answer.url), answer.read()


class Feed:
    """Passes changes on to a session, in a thread of its own. `say` hears what the session does not take."""

    def __init__(self, link: str, say: Callable[[str], object]) -> None:
        self._pages, self._say = Pages(link), say
        self._changes: SimpleQueue[tuple[Key, Manifest | None]] = SimpleQueue()

    def start(self, objects: Sequence[tuple[Key, Manifest]]) -> None:
        """Import what is there, and pass on what comes. Raise OSError if the session can't be reached."""
        self._import([manifest for _, manifest in objects])
        threading.Thread(target=self._pass_on, daemon=True).start()

    def put(self, key: Key, manifest: Manifest | None) -> None:
        """Pass on an object as it is now; None: it is gone."""
        self._changes.put((key, manifest))

    def _pass_on(self) -> None:
        while True:
            changes = dict([self._changes.get()])
            end = time.monotonic() + TOGETHER
            while (left := end - time.monotonic()) > 0:
                try:
                    key, manifest = self._changes.get(timeout=left)
                except Empty:
                    break
                changes.pop(key, None)
                changes[key] = manifest
            try:
                self._import([manifest for manifest in changes.values() if manifest is not None])
                for key in [key for key, manifest in changes.items() if manifest is None]:
                    self._delete(key)
            except OSError as error:
                self._say(f"the session did not take {len(changes)} changes: {error}")

    def _import(self, manifests: Sequence[Manifest]) -> None:
        if not manifests:
            return
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        preview = self._pages.post("import", text=text)
        token = parse_qs(urlsplit(preview).query).get("token")
        if not token:
            raise OSError("its import page gave no preview; is the link one to edit by?")
        self._pages.post("import/apply", token=token[0])

    def _delete(self, key: Key) -> None:
        kind, namespace, name = KINDS[key[0]], key[1], key[2]
        group = f"apis/{kind.group}" if kind.group else "api"
        where = f"namespaces/{namespace}/" if kind.namespaced else ""
        page = f"k8s/{group}/v1/{where}{kind.plural}/{name}?gracePeriodSeconds=0&propagationPolicy=Background"
        try:
            self._pages.ask(page, method="DELETE")
        except HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
