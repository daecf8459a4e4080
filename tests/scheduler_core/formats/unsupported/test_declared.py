"""Every field of kube's API is declared, and the declaration is what the engine's sources say.

kinds.txt has the kinds of k8s.io/api v0.34.1 that a cluster keeps or answers, with those of apiextensions and kube-aggregator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import scheduler_core
from scheduler_core.apiserver.kinds import KINDS, find_kind
from scheduler_core.apiserver.schema.table import fields
from scheduler_core.formats.unsupported import without_effect
from scheduler_core.formats.unsupported.declared import FIELDS, WHOLE_GROUPS, WHOLE_KINDS, WHOLLY_READ, Fields
from scheduler_core.formats.unsupported.no_effect import root_type

CORE = Path(scheduler_core.__file__).parent
ENGINE = (
    "apimachinery/dra",
    "apimachinery/objects",
    "apiserver",
    "controllers",
    "scheduler/cache",
    "scheduler/core",
    "scheduler/framework",
    "scheduler/leaderelection",
    "scheduler/plugins",
    "scheduler/queue",
)
# What reads, checks, fills in or drops fields whether or not anything acts on them.
OF_EVERY_FIELD = (
    "apiserver/door",  # serves every field
    "apiserver/imports",
    "apiserver/kinds.py",
    "apiserver/object_defaults.py",
    "apiserver/registry/devices/dropping.py",
    "apiserver/registry/releases.py",
    "apiserver/registry/strategies.py",
    "apiserver/schema",
    "apiserver/validation",
    "apimachinery/objects/texts",
    "apiserver/admission/plugins/pod_security",  # refuses pods, and has no other effect
)
# Objects that a fix makes.
_WRITES = (
    "scheduler/plugins/helper/fixes.py scheduler/plugins/helper/volumes.py scheduler/plugins/volumebinding/fixes.py"
)
_REFERENCES = (
    "apiserver/admission/plugins/node_restriction.py"  # of static pods, whose refusal does not ask what they hold
)
_SPECS = "apimachinery/objects/spec.py controllers/kubelet/eviction/observations.py"  # volumes that nothing is read of
# Where the names of fields without effect stand all the same: words of other things, and what is written or told to be there.
# What a pod needs of a kubelet that declares its features, since 1.35.
_NEEDS = "apimachinery/objects/spec.py scheduler/plugins/node_declared_features.py"
ELSEWHERE = {
    "hostUsers": _NEEDS,
    "restartPolicyRules": _NEEDS,
    "args": f"scheduler/plugins/cel/expressions.py {_WRITES}",
    "configMap": f"{_REFERENCES} {_SPECS} scheduler/core/algorithm/batching.py",
    "downwardAPI": _SPECS,
    "env": f"{_REFERENCES} controllers/workloads/jobs/pods.py",
    "envFrom": _REFERENCES,
    "ephemeralContainers": f"apimachinery/objects/pod.py {_NEEDS}",
    "gitRepo": _SPECS,
    "glusterfs": _REFERENCES,
    "hostname": "apiserver/admission/plugins/node_restriction.py apiserver/admission/plugins/simple.py"
    " controllers/workloads/jobs/pods.py controllers/workloads/statefulsets/identity.py"
    f" scheduler/plugins/podtopologyspread/constraints.py {_WRITES}",
    "imagePullPolicy": "apiserver/admission/plugins/simple.py",
    "imagePullSecrets": _REFERENCES,
    "local": "controllers/kubelet/eviction/judgement.py controllers/kubelet/eviction/manager.py controllers/nodes/drain.py"
    f" scheduler/plugins/dynamicresources/node_search.py {_WRITES}",
    "nfs": f"controllers/volumes/released.py {_SPECS}",
    "parameters": _WRITES,
    "podCIDR": _WRITES,
    "podCIDRs": _WRITES,
    "projected": f"{_REFERENCES} {_SPECS}",
    "providerID": _WRITES,
    "secret": f"{_REFERENCES} {_SPECS} scheduler/core/algorithm/batching.py scheduler/framework/drafts.py",
    "serviceAccountName": _REFERENCES,
    "subdomain": "controllers/workloads/statefulsets/identity.py apimachinery/objects/names.py",
    "user": "apiserver/admission/plugins/node_restriction.py scheduler/framework/drafts.py",
    "volumeDevices": f"{_WRITES} controllers/workloads/pods.py",
    "volumeMounts": f"{_WRITES} {_NEEDS} controllers/workloads/pods.py",
}
OF_EVERY_OBJECT = {"apiVersion", "kind", "metadata", "spec", "status"}
WALKED = [kind for kind in KINDS.values() if kind.key not in WHOLE_KINDS]


@cache
def words() -> dict[str, set[str]]:
    """The words in the texts of the engine's sources, each with the files that have it."""
    found: dict[str, set[str]] = {}
    for path in (path for room in ENGINE for path in (CORE / room).rglob("*.py")):
        file = path.relative_to(CORE).as_posix()
        if not file.startswith(OF_EVERY_FIELD):
            for word in re.findall(r"\w+", " ".join(texts(ast.parse(path.read_text())))):
                found.setdefault(word, set()).add(file)
    return found


def texts(tree: ast.AST) -> Iterator[str]:
    """The texts of a source, without its docstrings."""
    told = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in told:
            yield each.value


def declared(type_: str) -> Fields:
    return Fields(" ".join(fields(type_))) if type_ in WHOLLY_READ else FIELDS.get(type_, Fields())


def silent(type_: str) -> list[str]:
    return [name for names in declared(type_).silent.values() for name in names.split()]


def reached() -> dict[str, set[str]]:
    """The types that objects are made of, each with the fields that have to be declared: not below a field without effect."""
    found: dict[str, set[str]] = {}
    roots = {root_type(kind) for kind in WALKED}
    level = list(roots)
    while level:
        type_ = level.pop()
        if type_ in found:
            continue
        found[type_] = set(fields(type_)) - (OF_EVERY_OBJECT if type_ in roots else set())
        ends = {*silent(type_), *declared(type_).idle.split(), *({"status"} if type_ in roots else ())}
        level += [inner for name, field in fields(type_).items() if name not in ends and (inner := field.object_type)]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_walked_through_or_is_without_effect_as_a_whole(kind: str) -> None:
    assert kind in WHOLE_KINDS or root_type(KINDS[kind])


@pytest.mark.parametrize("type_", sorted(reached()))
def test_every_field_is_declared_once(type_: str) -> None:
    told = [*declared(type_).read.split(), *silent(type_), *declared(type_).idle.split()]
    assert sorted(told) == sorted(reached()[type_])


def test_no_type_is_declared_that_no_object_has() -> None:
    assert {*FIELDS, *WHOLLY_READ} - set(reached()) == set()


@pytest.mark.parametrize("type_", sorted(reached()))
def test_what_is_declared_as_read_stands_in_the_engine(type_: str) -> None:
    assert [name for name in declared(type_).read.split() if name not in words()] == []


def test_a_kind_that_is_walked_through_stands_in_the_engine() -> None:
    assert [kind.key for kind in WALKED if kind.key not in words() and kind.plural not in words()] == []


def test_what_is_declared_as_without_effect_does_not_stand_in_the_engine() -> None:
    read = {name for type_ in reached() for name in declared(type_).read.split()}
    names = {name for type_ in reached() for name in silent(type_)} - read
    read_all_the_same = {name: files for name in sorted(names) if (files := words().get(name, set()) - allowed(name))}
    assert read_all_the_same == {}


def allowed(name: str) -> set[str]:
    return set(ELSEWHERE.get(name, "").split())


def test_no_name_is_excused_that_needs_no_excuse() -> None:
    assert [name for name in ELSEWHERE if not words().get(name, set()) & allowed(name)] == []


@pytest.mark.parametrize("line", (Path(__file__).with_name("kinds.txt")).read_text().splitlines())
def test_every_kind_of_kubes_is_acted_on_or_told_or_refused(line: str) -> None:
    group, kind = line.split()
    version = "v1" if group == "core" else f"{group}/v1"
    known = find_kind(version, kind)
    told = without_effect({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}})
    if known is not None and known.key not in KINDS:
        assert told == [("", WHOLE_GROUPS.get(group) or WHOLE_KINDS[kind])]
    else:
        assert known is None or bool(told) == (kind in WHOLE_KINDS)
