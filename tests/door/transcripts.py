"""Plays recorded transcripts with a real kubectl against live sessions, and compares what is printed.

`python -m tests.door.transcripts URL FOLDER [NAME ...]` plays them against a server and prints each step that differs.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

from playground.management.door import Door

Data = dict[str, Any]
MOST_SETTLE = 12.0
STAND_INS = {"none": "none", "stand-in: a terminating": "removes", "stand-in: a bound": "runs"}


class Difference(NamedTuple):
    """One step that came to something else."""

    command: str
    field: str
    expected: str
    received: str


def find_kubectl() -> str:
    """The kubectl of KUBECTL, or of the system; "" where there is none."""
    return os.environ.get("KUBECTL") or shutil.which("kubectl") or ""


def version_of(kubectl: str) -> str:
    """The version of a kubectl, such as v1.32.4."""
    said = subprocess.run(
        [kubectl, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True
    ).stdout
    return str(json.loads(said)["clientVersion"]["gitVersion"])


def new_session(url: str, **fields: str) -> str:
    """The edit key of a new session."""
    key = re.search(r"/s/([^/]+)/", _send_form(url, "/new", **{"start": "empty", **fields}))
    assert key is not None
    return key[1]


def delete_session(url: str, key: str) -> None:
    """Delete a session, as its page does."""
    _send_form(url, f"/s/{key}/delete")


def _send_form(url: str, path: str, **fields: str) -> str:
    """The address that a form leads to."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    page = opener.open(f"{url}/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    form = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
    answer = opener.open(urllib.request.Request(f"{url}{path}", form, {"Referer": f"{url}/"}))
    return str(answer.url)


def normalize(text: str, transcript: Data) -> str:
    """A text without what is different each time (see the README of the transcripts)."""
    optional = [re.compile(each) for each in transcript.get("optional_lines") or ()]
    text = "\n".join(line for line in text.split("\n") if not any(each.search(line) for each in optional))
    for each in transcript.get("volatile") or ():
        text = re.sub(each, "<*>", text)
    lines = (re.sub(r"-{3,}", "---", re.sub(r"[ \t]+", " ", line)).rstrip() for line in text.split("\n"))
    return "\n".join(lines).strip("\n")


class Player:
    """Plays one transcript."""

    def __init__(self, url: str, transcript: Data, kubectl: str, folder: Path) -> None:
        self.transcript, self.kubectl, self.folder = transcript, kubectl, folder
        kind = next(kind for start, kind in STAND_INS.items() if transcript["kubelet"].startswith(start))
        key = new_session(url, live="1", kubelet=kind)
        self.link = f"{url}/s/{key}/"
        self.door = Door(self.link)
        self.version = version_of(kubectl)
        for name, text in transcript["files"].items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.environment = {
            **os.environ,
            "KUBECONFIG": str(folder.parent / f"{folder.name}.config"),
            "HOME": str(folder),
        }

    def play(self) -> list[Difference]:
        """All steps, in order; those that differ."""
        config = self.door.start()
        Path(self.environment["KUBECONFIG"]).write_text(config)
        try:
            found: list[Difference] = []
            for step in self.transcript["steps"]:
                found += self._step(step)
            return found
        finally:
            self.door.stop()

    def _step(self, step: Data) -> list[Difference]:
        expected = {**step, **(step.get(f"kubectl_{self.version.split('-')[0]}") or {})}
        command = step["cmd"] if isinstance(step["cmd"], list) else shlex.split(step["cmd"])
        command = [self.kubectl if part == "kubectl" and i == 0 else part for i, part in enumerate(command)]
        environment = {**self.environment, **(step.get("env") or {})}
        interrupted = step.get("interrupted_after_seconds")
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            timer = threading.Timer(interrupted, process.terminate) if interrupted else None
            if timer is not None:
                timer.start()
            besides = threading.Thread(target=self._during, args=(step.get("during") or (), environment))
            besides.start()
            try:
                out, err = process.communicate(step.get("stdin") or "", timeout=90)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += "\n(killed after 90 s)"
            besides.join()
        self._settle(step)
        return self._compare(step, expected, process.returncode, out, err)

    def _during(self, commands: Any, environment: dict[str, str]) -> None:
        for each in commands:
            time.sleep(each.get("after_seconds") or 0)
            command = each["cmd"] if isinstance(each["cmd"], list) else shlex.split(each["cmd"])
            command = [self.kubectl if part == "kubectl" and i == 0 else part for i, part in enumerate(command)]
            subprocess.run(
                command, cwd=self.folder, env=environment, input=each.get("stdin") or "", text=True, capture_output=True
            )

    def _settle(self, step: Data) -> None:
        """Waits until nothing changes any more, as far as the step says so."""
        wanted = step.get("settle")
        if not wanted:
            time.sleep(0.15)
            return
        pause = re.search(r"a pause of ([\d.]+) s", str(wanted))
        if pause:
            time.sleep(float(pause[1]))
            return
        end, before, quiet = time.monotonic() + MOST_SETTLE, "", 0
        time.sleep(0.4)
        while time.monotonic() < end and quiet < 3:
            now = self.door.version()
            quiet = quiet + 1 if now == before else 0
            before = now
            time.sleep(0.25)

    def _compare(self, step: Data, expected: Data, code: int, out: str, err: str) -> list[Difference]:
        shown, how = " ".join(step["cmd"]) if isinstance(step["cmd"], list) else step["cmd"], step.get("compare") or ""
        found = []
        if not step.get("interrupted_after_seconds") and code != expected["rc"]:
            found.append(Difference(shown, "rc", str(expected["rc"]), str(code)))
        if how.startswith("rc"):
            return found
        for field, got in (("stdout", out), ("stderr", err)):
            got = got.replace(f"{self.folder}/", "").replace(str(self.folder), "")
            wanted, received = normalize(expected[field], self.transcript), normalize(got, self.transcript)
            if how.startswith("lines in any order"):
                wanted, received = ("\n".join(sorted(text.split("\n"))) for text in (wanted, received))
            elif how.startswith("number of lines"):
                wanted, received = (str(text.count("\n")) for text in (wanted, received))
            elif how.startswith("keys only"):
                names = "gitCommit|buildDate|goVersion|platform|compiler"
                wanted, received = (re.sub(rf"({names}): .*", r"\1:", text) for text in (wanted, received))
            elif "api-resources" in shown or "api-versions" in shown:
                # A server that has fewer kinds has fewer rows.
                wanted = "\n".join(line for line in wanted.split("\n") if line in received.split("\n"))
            if wanted != received:
                found.append(Difference(shown, field, wanted, received))
        return found


def play(url: str, path: Path, kubectl: str) -> tuple[int, list[Difference]]:
    """Play one file: how many steps it has, and which differ."""
    transcript = json.loads(path.read_text())
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / "work"
        inner.mkdir()
        return len(transcript["steps"]), Player(url, transcript, kubectl, inner).play()


def main() -> None:
    """Play some transcripts, or all of a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    steps = equal = 0
    for path in sorted(given.folder.glob("*.json")):
        if given.names and path.stem not in given.names:
            continue
        started = time.monotonic()
        try:
            count, found = play(given.url, path, find_kubectl())
        except Exception as error:
            print(f"## {path.stem}: {type(error).__name__}: {error}")
            continue
        different = len({each.command for each in found})
        steps, equal = steps + count, equal + count - different
        print(f"## {path.stem}: {count - different} of {count} equal ({time.monotonic() - started:.0f} s)")
        for each in found:
            print(
                f"  $ {each.command}\n    {each.field} expected:\n{_indent(each.expected)}\n    received:\n{_indent(each.received)}"
            )
        sys.stdout.flush()
    print(f"{equal} of {steps} steps equal")


def _indent(text: str) -> str:
    return "\n".join(f"      {line}" for line in text.split("\n"))


if __name__ == "__main__":
    main()
