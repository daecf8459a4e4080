"""Compare what the API server of a release does to new objects with ours, over random objects.

    python -m tests.oracle.admissions ADMIT RELEASE FIRST LAST [FILE]

ADMIT is the program admit-oracle that build.sh builds. An object is a base of its kind with up to three changes, most of
which concern fields and rules that differ between releases. Prints each object whose errors or stored fields differ, and a
line of sums; exits 1 where one differs. FILE gets the cases that agree, with kube's answers, as
tests/scheduler_core/apiserver/test_admitted.py replays them.
"""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduler_core.apiserver.admission.catalogue import PLUGINS
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store
from scheduler_core.base.releases import read_release
from scheduler_core.scheduler.config.gates import GateError, gates_of, resolve
from scheduler_core.scheduler.config.settings import WorldSettings
from tests.oracle.requests import BASES, CHANGES, GATES

Manifest = dict[str, Any]
_BARE = APIServerOptions(disable_admission_plugins=tuple(plugin.name for plugin in PLUGINS))


# A value that is an object or a list is printed with the names that it has within the API server, and so is how a spec changed.
_VALUE = re.compile(r"(?<=Invalid value: )[\[{].*[\]}](?=: )|\n(@@|spec).*", re.DOTALL)
# What differs from run to run, and what kube's storage, not its strategy, allocates for a Service.
_DRAWN = ("controller-uid", "timeAdded", "nodePort")
_ALLOCATED = ("spec.clusterIP", "spec.ipFamil")


def make_case(seed: int, release: str) -> Manifest:
    """Make the request of a seed: an object, and gates that are set otherwise than the release has them."""
    rng = random.Random(seed)
    served = "GenericWorkload" in gates_of(read_release(release)) and release.startswith("1.37")
    kind = rng.choice([each for each in BASES if served or each != "PodGroup"])
    manifest = copy.deepcopy(BASES[kind])
    for path, values in rng.sample(CHANGES[kind], rng.choice([1, 1, 2, 3])):
        put(manifest, path.split("."), copy.deepcopy(rng.choice(values)))
    return {"object": manifest, "gates": draw_gates(rng, release, kind, [0, 0, 1])}


def draw_gates(rng: random.Random, release: str, kind: str, numbers: Sequence[int]) -> dict[str, bool]:
    """Draw gates that are set otherwise than the release has them."""
    known = gates_of(read_release(release))
    free = [name for name in GATES if name in known and not known[name].locked]
    gates = {name: not known[name].default for name in rng.sample(free, rng.choice(numbers))}
    try:
        resolve(gates, read_release(release))
    except GateError:
        gates = {}
    return gates | (
        {"GenericWorkload": True} if kind == "PodGroup" else {}
    )  # only 1.37 serves the form that is modeled


def put(value: Any, path: list[str], new: Any) -> None:
    """Set a field, or remove it (None). A change of what an earlier one took away is left out."""
    for name in path[:-1]:
        if isinstance(value, list):
            value = value[int(name)] if int(name) < len(value) else {}
        else:
            value = value.setdefault(name, {})
    if isinstance(value, list):
        value[int(path[-1])] = new
    elif new is None:
        value.pop(path[-1], None)
    else:
        value[path[-1]] = new


def server(gates: Mapping[str, bool], release: str) -> APIServer:
    """Return an empty API server of the release, without admission."""
    settings = WorldSettings().of_release(read_release(release))
    settings = settings.changed(resolve(dict(gates), read_release(release)).settings)
    api = APIServer(Store(), _BARE, 0, devices=settings.device_gates)
    api.store.calendar = True
    return api


def answer(case: Mapping[str, Any], release: str) -> Manifest:
    """Return the stored object or the errors of our API server."""
    try:
        return {"object": server(case["gates"], release).create(case["object"], dry_run=True)}
    except Refused as refused:
        return describe(refused)


def describe(refused: Refused) -> Manifest:
    """Return a refusal's errors."""
    unreadable = refused.answer is not None and refused.answer.reason == "BadRequest"
    return {"unreadable" if unreadable else "errors": sorted({_VALUE.sub("", str(error)) for error in refused.errors})}


def expect(case: Mapping[str, Any], given: Mapping[str, Any]) -> Manifest:
    """Return kube's answer in the form of ours."""
    if "errors" in given:
        return {
            "errors": sorted(
                {_VALUE.sub("", f"{each.get('field')}: {each.get('message')}") for each in given["errors"]}
            )
        }
    return {"unreadable": given["decode"]} if "decode" in given else dict(given)


def difference(expected: Manifest, received: Manifest, of_status: bool = False) -> str:
    """Describe the first difference: in errors, or in fields of the spec (or status) that the object has or not; "" if none."""
    if "unreadable" in expected and "unreadable" in received:
        return ""
    if ("errors" in expected) != ("errors" in received) or "errors" in expected:
        wanted, got = expected.get("errors", []), received.get("errors", [])
        missing = [each for each in wanted if each not in got]
        extra = [each for each in got if each not in wanted]
        kept = {name: value for name, value in expected.items() if name not in ("errors", "object")}
        kept |= {name: value for name, value in received.items() if name == "unreadable"}
        return f"missing {missing}, not in kube {extra} {kept}" if missing or extra or kept else ""
    if "object" not in expected or "object" not in received:
        return f"expected {expected}, received {received}"
    wanted, got = _leaves(expected["object"]), _leaves(received["object"])
    return "; ".join(
        f"{path}: expected {wanted.get(path)!r}, received {got.get(path)!r}"
        for path in sorted({*wanted, *got})
        if wanted.get(path) != got.get(path)
        and not path.startswith(("metadata.", "apiVersion", *_ALLOCATED, *(() if of_status else ("status.",))))
        and not path.endswith(_DRAWN)
    )


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping) and value:
        parts = [_leaves(each, f"{path}.{name}" if path else name) for name, each in value.items()]
    elif isinstance(value, list) and value:
        parts = [_leaves(each, f"{path}[{i}]") for i, each in enumerate(value)]
    else:
        return {} if value in (None, {}, [], "", False) else {path: value}
    return {name: leaf for part in parts for name, leaf in part.items()}


def compare(
    make: Callable[[int, str], Manifest],
    ours: Callable[[Mapping[str, Any], str], Manifest],
    admit: str,
    release: str,
    seeds: range,
    file: str = "",
) -> int:
    """Compare the requests of the seeds. What one side refuses to make is not compared as an update. Return the exit code."""
    cases = [make(seed, release) for seed in seeds]
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    answered = subprocess.run([admit], input=lines, capture_output=True, text=True, check=True, timeout=600)
    compared, agreed, refused, kept = 0, 0, 0, []
    for seed, case, line in zip(seeds, cases, answered.stdout.splitlines(), strict=True):
        expected, received = expect(case, json.loads(line)), ours(case, release)
        passed_over = 'unknown field "status.' in expected.get("unreadable", "")  # see DEVIATION in schema/strict.py
        if "old" in expected or "old" in received or "panic" in expected or passed_over:
            continue
        different = difference(expected, received, case.get("subresource") == "status")
        compared += 1
        agreed += not different
        refused += "errors" in expected
        if not different:
            kept.append({"release": release, **case, "expect": expected})
        if different:
            gates = (case.get("oldGates") or "", case["gates"] or "")
            print(f"{seed} {case['object']['kind']}/{case.get('subresource', '')} {gates}: {different}")
    if file:
        with Path(file).open("a", encoding="utf-8") as out:
            out.writelines(f"{json.dumps(each, separators=(',', ':'))}\n" for each in kept)
    print(f"{release}: {agreed} of {compared} objects agree; {refused} are refused")
    return int(agreed < compared)


def main(admit: str, release: str, first: str, last: str, file: str = "") -> int:
    """Compare new objects of the seeds from `first` to before `last`. Return the exit code."""
    return compare(make_case, answer, admit, release, range(int(first), int(last)), file)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
