"""Releases of kube-scheduler, and the table of what differs between them. No other module compares releases.

Code asks for a behavior by its name, when it is constructed. docs/releases.md and the page "Differences between releases" list this table.
Measured with the schedulers v1.34.1, v1.34.2, v1.35.4, v1.36.3, and v1.37.2; read in pkg/scheduler of the same releases.
"""

import enum
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, get_args

Release = Literal["1.34.1", "1.34.2", "1.35.4", "1.36.3", "1.37.2"]
RELEASES: tuple[Release, ...] = get_args(Release)
OLDEST: Release = "1.34.1"
NEWEST: Release = "1.37.2"

T = TypeVar("T")


class Behavior(enum.StrEnum):
    """The names of the differences, as code asks for them."""

    CONSTANT_TAINT_TEXT = "constant-taint-text"
    DECLARED_FEATURES = "declared-features"
    GATE_DEPENDENCIES = "gate-dependencies"
    TOPOLOGY_LABELS = "topology-labels"
    DEVICES_SCORE = "devices-score"
    PROMOTED_ALLOCATORS = "promoted-allocators"
    RESULT_TOLERATIONS = "result-tolerations"
    CLASS_CONFIGS_ONCE = "class-configs-once"
    INVALID_POOLS_SKIPPED = "invalid-pools-skipped"
    COUNTERS_OF_POOLS = "counters-of-pools"
    OWN_CAPACITY = "own-capacity"
    DISTINCT_VALUES = "distinct-values"
    DEVICES_IN_ORDER = "devices-in-order"
    REFUSED_DEVICES_RETURN = "refused-devices-return"
    BINDING_TEXTS = "binding-texts"
    UNNAMED_CONFIGS = "unnamed-configs"
    ALL_BY_SIZE = "all-by-size"
    SELECTORS_NAME_DEVICES = "selectors-name-devices"
    CLASSES_SERVE_ALONE = "classes-serve-alone"
    ALLOCATED_CLAIMS_SCORE = "allocated-claims-score"
    FAILURE_CLEARS_NOMINATION = "failure-clears-nomination"
    ASSUMED_POD_DELETION = "assumed-pod-deletion"
    DEVICE_CLASSES_HEARD = "device-classes-heard"
    LAST_VICTIM_GATES = "last-victim-gates"
    BALANCE_BY_CHANGE = "balance-by-change"
    AFFINITY_HINTS = "affinity-hints"
    RECREATED_POD_LEAVES = "recreated-pod-leaves"
    PREEMPTION_IN_MEMORY = "preemption-in-memory"
    REASONS_COUNTED_ONCE = "reasons-counted-once"
    HOST_USERS_DECLARED = "host-users-declared"
    DRIVERS_ASK = "drivers-ask"
    IMAGE_VOLUMES_IN_LIMIT = "image-volumes-in-limit"
    COUNTERS_BY_NODE = "counters-by-node"
    IMAGE_VOLUMES = "image-volumes"
    BIND_MOUNT_OPTIONS = "bind-mount-options"
    NODE_NAME_FIRST = "node-name-first"
    QUIET_WITHOUT_CLAIMS = "quiet-without-claims"
    PLACEMENT_TEXT = "placement-text"
    GATED_NOMINATIONS = "gated-nominations"
    FIRST_SPENT_BUDGET = "first-spent-budget"
    WHOLE_POD_SUMS = "whole-pod-sums"
    BATCHING = "batching"
    TIES_IN_ORDER = "ties-in-order"
    BATCH_RESCORE = "batch-rescore"
    POD_GROUPS = "pod-groups"
    SPLIT_POD_EVENTS = "split-pod-events"
    TAINTS_UNHEARD = "taints-unheard"
    ANY_ANTI_AFFINITY_TERM = "any-anti-affinity-term"
    CLEARED_NOMINATIONS_GO = "cleared-nominations-go"
    FLUSHED_GATES = "flushed-gates"
    DELETED_CLAIMS_HEARD = "deleted-claims-heard"
    DELETED_PODS_UNCOUNTED = "deleted-pods-uncounted"


class Difference(NamedTuple):
    """A behavior, the first release that has it, its place in kube's sources, and one sentence.

    `texts`: the part of a message or a metric's label without and with the behavior ("" for none). `unshown`: the reason why no cluster
    on the page of differences shows it.
    """

    behavior: Behavior
    since: str
    source: str
    text: str
    texts: tuple[str, str] | None = None
    unshown: str = ""


# In the order in which docs/releases.md lists them.
DIFFERENCES: tuple[Difference, ...] = tuple(
    Difference(**{**row, "behavior": Behavior(row["behavior"])})
    for row in json.loads(Path(__file__).with_suffix(".json").read_text())
)


# What newer releases judge otherwise in requests to the API server: the release that brought a rule, and one sentence.
API_RULES: Mapping[str, tuple[str, str]] = json.loads(Path(__file__).with_name("api_rules.json").read_text())


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def minor_of(version: str) -> int:
    """Return the minor version of a release: 37 of "1.37.2"."""
    return _numbers(version)[1]


def pick(history: Mapping[str, T], release: Release) -> T | None:
    """Return the newest entry of a history by release that applies to this release, or None if all entries are newer."""
    entries = [(_numbers(since), entry) for since, entry in history.items() if has_reached(release, since)]
    return max(entries, key=lambda entry: entry[0])[1] if entries else None


@cache
def behaviors_of(release: Release) -> frozenset[Behavior]:
    """Return the behaviors that a release has."""
    return frozenset(each.behavior for each in DIFFERENCES if has_reached(release, each.since))


@cache
def rules_of(release: Release) -> frozenset[str]:
    """Return the names of the API rules that a release has."""
    return frozenset(name for name, (since, _) in API_RULES.items() if has_reached(release, since))


def has_reached(release: Release, since: str) -> bool:
    """Return whether a release is `since` or newer."""
    return _numbers(since) <= _numbers(release)


def find_newest(versions: Iterable[str]) -> str:
    """Return the newest of some versions such as "1.33.2"."""
    return max(versions, key=_numbers)


def in_order(*releases: Release) -> list[Release]:
    """Return releases from the oldest to the newest."""
    return sorted(releases, key=RELEASES.index)


def read_release(text: str) -> Release:
    """Return the modeled release that a text such as "v1.36.3" or "1.36" names: the nearest patch of that minor version. Raise
    ValueError.
    """
    found = re.fullmatch(r"v?1\.(\d+)(?:\.(\d+))?(?:[-+].*)?", text.strip())
    alike = [each for each in RELEASES if found and _numbers(each)[1] == int(found[1])]
    if not found or not alike:
        raise ValueError(f"received {text!r}; expected a release from 1.34 to 1.37, such as {NEWEST}")
    wanted = int(found[2]) if found[2] else _numbers(alike[-1])[2]
    return min(alike, key=lambda each: abs(_numbers(each)[2] - wanted))


def nearest_release(version: str) -> Release:
    """Return the modeled release nearest to a version such as "1.33.2": the oldest before 1.34, the newest after 1.37."""
    minor = minor_of(version)
    if minor < minor_of(OLDEST):
        return OLDEST
    return NEWEST if minor > minor_of(NEWEST) else read_release(version)
