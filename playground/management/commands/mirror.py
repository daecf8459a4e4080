"""`python manage.py mirror`: watches a cluster by the user's kubectl, explains each new Pending pod, and answers questions about it."""

import json
import shlex
import signal
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.cookiejar import CookieJar
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

import yaml
from django.core.management.base import CommandError

from playground.management.door import read_link
from playground.management.terminal.cluster import BadInput, Live, Question
from playground.management.terminal.command import TerminalCommand, add_options
from playground.management.terminal.watching import Event, Key, ListedObjects, Report, TextLine, Watches, key_of, role
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.config import RELEASES
from scheduler_core.world.readonly import DECIDING, KINDS

TOGETHER = 1.0  # seconds in which changes are collected for one import
WAIT = 120.0  # seconds for an answer


class Pages:
    """The pages of a session, requested as by a browser."""

    def __init__(self, link: str) -> None:
        base, key = read_link(link)
        self.link, self._cookies = f"{base}/s/{key}", CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))

    def post(self, page: str, **fields: str) -> str:
        """Send a form. Return the address of the redirect."""
        if not self._token():
            self.ask("")  # sets the cookie whose value each form carries
        return self.read(page, urlencode({**fields, "csrfmiddlewaretoken": self._token()}).encode())[0]

    def _token(self) -> str:
        return next((cookie.value or "" for cookie in self._cookies if cookie.name.endswith("csrftoken")), "")

    def ask(self, page: str, method: str | None = None) -> bytes:
        """Return the content of a page."""
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
    """A thread that forwards changes to a session. `say` gets the session's refusals."""

    def __init__(self, link: str, say: Callable[[str], object]) -> None:
        self._pages, self._say = Pages(link), say
        self._changes: SimpleQueue[tuple[Key, Manifest | None]] = SimpleQueue()

    def start(self, objects: Sequence[tuple[Key, Manifest]]) -> None:
        """Import the existing objects, and start to forward changes. Raise OSError if the session can't be reached."""
        self._import([manifest for _, manifest in objects])
        threading.Thread(target=self._pass_on, daemon=True).start()

    def put(self, key: Key, manifest: Manifest | None) -> None:
        """Forward an object's new state; None: the object was deleted."""
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


QUESTIONS = ("explain", "simulate", "whatif")
ASK = f"Ask {', '.join(QUESTIONS)} as at a terminal, without files, such as: whatif --drain NODE; whatif --release {RELEASES[-1]}; quit"
USUAL = ("namespace", "config", "release")  # options that questions take from the mirror
ENDED = ("Succeeded", "Failed")


class Command(TerminalCommand):
    """A command that mirrors a cluster's objects in memory, and runs the other commands on them."""

    help = (
        "Watch the cluster of your kubectl: explain each new Pending pod as it arrives, and answer lines of standard input. "
        f"{ASK}. kubectl only gets, lists, and watches; Secrets and ConfigMaps are not asked for. Ends with Ctrl-C."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--role", action="store_true", help="print the ClusterRole that is enough, and end")
        add_options(
            parser,
            ("--to", "", "LINK", "show the cluster in this session, by its edit link"),
            ("--after", 1.0, "S", "explain what waits for so long (1)"),
            ("--fixes", 3, "N", "search fixes for so many pods at once (3)"),
            ("--seconds", 1.0, "S", "how long each search computes (1)"),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["role"]:
            self.stdout.write(yaml.safe_dump(role(), sort_keys=False), ending="")
            return
        if options["words"]:
            raise BadInput(
                f"received {options['words'][0]}; mirror takes no file and no name, but questions as lines of its input"
            )
        live = Live({name: options[name.replace("-", "_")] for name in Live.OPTIONS}, self.stderr.write)
        question = Question([], options["namespace"], options["all_namespaces"])
        self._options, self._mirror = options, Mirror()
        for _, data in live.read(question):
            self._mirror.fill(json.loads(data)["items"])
        options["namespace"] = question.namespace  # that of kubectl's context, if the options have none
        self.stderr.write("Only get, list, and watch are asked for; --role prints the role that is enough.")
        reports: SimpleQueue[Report] = SimpleQueue()
        watches = Watches(live, question.namespace, reports)
        if options["to"]:
            link = options["to"]
            feed = Feed(link, lambda text: reports.put(TextLine(text)))
            try:
                feed.start([(key, manifest) for key, (_, manifest) in self._mirror.objects.items()])
            except OSError as error:
                raise BadInput(f"{link}: {error}") from None
            self._mirror.pass_on = feed.put
        threading.Thread(target=lambda: list(map(reports.put, sys.stdin)), daemon=True).start()
        watches.start()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self._follow(reports)
        except KeyboardInterrupt:
            pass
        finally:
            watches.stop()

    def _follow(self, reports: SimpleQueue[Report]) -> None:
        """Handle watch reports and input lines one by one; explain new pending pods after a delay."""
        mirror = self._mirror
        self.stdout.write(f"{mirror.summary()}\n{ASK}")
        due = time.monotonic() if mirror.fresh else None
        while True:
            self.stdout.flush()
            try:
                report = reports.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
            except Empty:
                due = None
                searched = f"--fixes={self._options['fixes']}", f"--seconds={self._options['seconds']}", "-o=text"
                self._ask("explain", [*(f"--pod={pod}" for pod in mirror.take_fresh()), *searched])
                continue
            if isinstance(report, str):
                if not self._answer(report):
                    return
            elif isinstance(report, TextLine):
                self.stderr.write(report.text)
            else:
                for line in mirror.take(report):
                    self.stdout.write(line)
            if not mirror.fresh:
                due = None
            elif due is None:
                due = time.monotonic() + self._options["after"]

    def _answer(self, line: str) -> bool:
        """Handle a line of standard input. Return False at the end."""
        try:
            name, *words = shlex.split(line) or [""]
        except ValueError as error:
            name, words = f"{line.strip()} ({error})", []
        if name in ("quit", "exit"):
            return False
        if name in QUESTIONS:
            self._ask(name, words)
        elif name:
            self.stderr.write(f"received {name}; {ASK}")
        return True

    def _ask(self, name: str, words: Sequence[str]) -> None:
        """Run another command on the mirrored objects."""
        command = import_module(f"playground.management.commands.{name}").Command(self.stdout, self.stderr)
        command.given = [("the cluster", self._mirror.as_text())]
        usual = [f"--{option}={value}" for option in USUAL if (value := self._options[option])]
        try:
            options = vars(command.create_parser("mirror", name).parse_args([*usual, *words]))
            command.execute(*options.pop("args", ()), **options)
        except CommandError as error:
            self.stderr.write(f"error: {error}")
        except SystemExit:  # a status about the cluster, or --help
            pass


class Mirror:
    """The latest objects of a cluster from kubectl, and the pending pods not yet explained."""

    def __init__(self) -> None:
        self.objects: dict[Key, tuple[int, Manifest]] = {}
        self.fresh: dict[Key, None] = {}
        self._explained: dict[Key, str] = {}  # uids
        self.pass_on: Callable[[Key, Manifest | None], None] = lambda key, manifest: None

    def fill(self, manifests: Sequence[Manifest]) -> None:
        """Add the objects of the first list."""
        for manifest in manifests:
            for _ in self._take_object(Event(str(manifest.get("kind")), 0, "ADDED", manifest)):
                pass

    def take(self, report: Event | ListedObjects) -> Iterator[str]:
        """Apply a change, and yield messages: an explained pod has got a node, or is gone."""
        if isinstance(report, Event):
            yield from self._take_object(report)
            return
        for key, (run, _) in list(self.objects.items()):
            if key[0] == report.kind and run < report.run and key not in report.keys:
                yield from self._remove(key)

    def take_fresh(self) -> list[str]:
        """Return the pending pods not yet explained, NAMESPACE/NAME, and mark them as explained."""
        pods = list(self.fresh)
        self.fresh.clear()
        self._explained |= {key: _uid(self.objects[key][1]) for key in pods}
        return [f"{namespace}/{name}" for _, namespace, name in pods]

    def summary(self) -> str:
        """Return a line with the numbers of nodes and pods."""
        pods = [manifest for key, (_, manifest) in self.objects.items() if key[0] == "Pod"]
        nodes = sum(key[0] == "Node" for key in self.objects)
        return f"Nodes: {nodes}; pods: {len(pods)}; Pending: {sum(map(waits, pods))}."

    def as_text(self) -> bytes:
        """Return the objects as kubectl prints them."""
        items = [manifest for _, manifest in self.objects.values()]
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()

    def _take_object(self, event: Event) -> Iterator[str]:
        key = key_of(event.object)
        if key[0] not in DECIDING:  # an ERROR is a Status
            return
        if event.type == "DELETED":
            yield from self._remove(key)
            return
        known = self.objects.get(key, (0, event.object))[1]
        if known is not event.object and _version(known) == _version(event.object) != "":
            self.objects[key] = event.run, known  # a new watch repeats the listed objects
            return
        self.objects[key] = event.run, event.object
        self.pass_on(key, event.object)
        if key[0] != "Pod":
            return
        if not waits(event.object):
            self.fresh.pop(key, None)
            if self._explained.pop(key, None):
                node = (event.object.get("spec") or {}).get("nodeName")
                yield f"{key[1]}/{key[2]} {f'is on {node} now' if node else 'waits no longer'}."
        elif self._explained.get(key) != _uid(event.object):
            self.fresh[key] = None

    def _remove(self, key: Key) -> Iterator[str]:
        if self.objects.pop(key, None):
            self.pass_on(key, None)
        self.fresh.pop(key, None)
        if self._explained.pop(key, None):
            yield f"{key[1]}/{key[2]} is deleted."


def waits(pod: Manifest) -> bool:
    """Return True if a pod is waiting for a node."""
    has_ended = (pod.get("status") or {}).get("phase") in ENDED
    return not (has_ended or (pod.get("spec") or {}).get("nodeName") or pod["metadata"].get("deletionTimestamp"))


def _uid(pod: Manifest) -> str:
    return str(pod["metadata"].get("uid") or "none")


def _version(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("resourceVersion") or "")
