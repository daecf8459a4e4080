"""Readers of corpus files: one family each, in plain or compressed JSON."""

import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scheduler_core.base.releases import OLDEST, Release, read_release
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.testing.conformance.timelines import unknown_operation

# Profiles as the corpus was made with them.


def with_all_candidates(profile: Profile) -> Profile:
    """The corpus shows the dry run of every potential node."""
    args = dict(profile.args)
    if "DefaultPreemption" in args:
        args["DefaultPreemption"] = {**args["DefaultPreemption"], "minCandidateNodesPercentage": 100}
    return replace(profile, args=args)


SUFFIXES = (".json", ".json.xz", ".json.gz")
INDEX = "index.json"  # of a folder: counts, and scenarios that were left out

_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {".xz": lzma.decompress, ".gz": gzip.decompress}


class CorpusError(ValueError):
    """An error of a path without a corpus. The text names the path and the reason."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of a file, or one timeline of the corpus of the queue."""

    family: str
    name: str
    data: Mapping[str, Any]
    file: Path | None = None
    release: Release = OLDEST

    @property
    def attempts(self) -> list[Mapping[str, Any]]:
        expect = self.data.get("expect")
        return list(expect.get("attempts") or ()) if isinstance(expect, dict) else []


def read_corpus(path: Path) -> Iterator[Scenario]:
    """The scenarios of a file, or of all corpus files below a folder in the order of their paths. CorpusError."""
    for file in _files(path):
        data = load_json(file)
        if not isinstance(data, dict) or not isinstance(data.get("family"), str):
            raise CorpusError(f"{file}: not a corpus file: an object with `family` and `scenarios` is expected")
        timelines = "timelines" in data
        entries = data.get("timelines" if timelines else "scenarios")
        if not isinstance(entries, list) or not entries:
            raise CorpusError(f"{file}: has neither `scenarios` nor `timelines`")
        family = f"queue/{data['family']}" if timelines else data["family"]
        release = _release_of(file, data)
        for i, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise CorpusError(f"{file}: scenario {i} is not an object")
            yield Scenario(family, str(entry.get("name", i)), entry, file, release)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise CorpusError(f"{path}: no such file or folder")
    files = sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and file.name.endswith(SUFFIXES) and not file.name.endswith(INDEX)
    )
    if not files:
        raise CorpusError(f"{path}: holds no {', '.join(SUFFIXES)} file")
    return files


def load_json(file: Path) -> Any:
    """The data of a JSON file, plain or compressed. CorpusError."""
    decompress = _DECOMPRESS.get(file.suffix, bytes)
    try:
        return json.loads(decompress(file.read_bytes()))
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise CorpusError(f"{file}: can't be read: {problem}") from problem


def _release_of(file: Path, data: Mapping[str, Any]) -> Release:
    """Return the release that a file was recorded with; 1.34's corpora were recorded with versions that decide as 1.34.1."""
    version = str(data.get("kubeVersion") or OLDEST)
    try:
        return read_release(version)
    except ValueError as problem:
        raise CorpusError(f"{file}: kubeVersion: {problem}") from problem


# Which plugins a scenario is about: those that refused a node or the pod, scored, or looked for victims in it.


def plugins_in(scenario: Scenario) -> list[str]:
    """Return the sorted names of the plugins in the expected attempts, which are the real ones if the scenario passes."""
    return sorted({name for attempt in scenario.attempts for name in _in(attempt) if name})


def _in(attempt: Mapping[str, Any]) -> Iterator[str]:
    for status in ((attempt.get("preEnqueue") or {}), (attempt.get("preFilter") or {})):
        yield status.get("plugin") or ""
    yield from (attempt.get("preFilter") or {}).get("nodePlugins") or ()
    for status in (attempt.get("filter") or {}).values():
        yield (status or {}).get("plugin") or ""
    yield from (attempt.get("scores") or {}).get("plugins") or ()
    yield from attempt.get("unschedulablePlugins") or ()
    if attempt.get("preemption"):
        yield "DefaultPreemption"


# Which scenarios of a corpus can be judged.


def not_supported(scenario: Scenario) -> str:
    """Return the reason why a scenario can't be judged, read from its data, never its name; "" if it can."""
    data = scenario.data
    if is_world(scenario) or is_object(scenario):
        return ""
    if "steps" in data:
        return unknown_operation(data)
    if "attempts" not in (data.get("expect") or {}):
        return "another kind of corpus"
    return ""


def is_object(scenario: Scenario) -> bool:
    """Return whether a scenario is one object with the errors of kube's validation."""
    return "object" in scenario.data and "errors" in scenario.data


def is_world(scenario: Scenario) -> bool:
    """Return whether a scenario is a world: objects, and steps in time; a timeline's steps are operations."""
    return "objects" in scenario.data and "steps" in scenario.data
