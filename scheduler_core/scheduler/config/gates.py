"""kube's feature gates: those that kube-scheduler uses, and the format of `--feature-gates=A=true,B=false`.

A gate that can be set is a setting of the world (docs/world.md). Others are locked to their default; setting them is refused with kube's
message.

kube: pkg/features/kube_features.go, plugins/feature/feature.go, component-base/featuregate/feature_gate.go @ v1.34.1
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scheduler_core.base.releases import OLDEST, Behavior, Release, behaviors_of, pick

GA, BETA, ALPHA = "GA", "Beta", "Alpha"
ALL_ALPHA, ALL_BETA = "AllAlpha", "AllBeta"
_WHOLE_STAGES = {ALL_ALPHA: ALPHA, ALL_BETA: BETA}
MAX_GATES_TEXT = 10_000


class GateError(ValueError):
    """An invalid setting of gates; `problems` has one text for each error."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate in one release. `setting` is the world's setting for it, or "" if the gate cannot be set or has no effect here."""

    name: str
    stage: str
    default: bool
    setting: str = ""
    locked: bool = False


# `settings`: the gates that kube-scheduler uses, with the corresponding settings of the world; "" if a gate is locked in every release.
# `needs`: the gates that a gate depends on, if the release has them.
# `histories`: all gates of kube-scheduler, with the stage and default from each release on; "gone" if a release lacks the gate.
# kube: pkg/features/kube_features.go, and those of apiserver, client-go and component-base @ v1.34.1, v1.35.4, v1.36.3, v1.37.2
_DATA = json.loads(Path(__file__).with_name("gates.json").read_text())
_SETTINGS: Mapping[str, str] = _DATA["settings"]
_HISTORIES: Mapping[str, Mapping[str, str]] = _DATA["histories"]
_NEEDS: Mapping[str, str] = _DATA["needs"]
GATE_SETTINGS = tuple(filter(None, _SETTINGS.values()))
# Gates of pod groups: earlier releases have an alpha form that is not modeled.
_OF_GROUPS = ("GenericWorkload", "TopologyAwareWorkloadScheduling")


@cache
def gates_of(release: Release = OLDEST) -> Mapping[str, Gate]:
    """Return all gates of a release, by name; those that kube-scheduler uses come first."""
    found = {}
    for name in (*_SETTINGS, *_HISTORIES):
        state = (pick(_HISTORIES[name], release) or "gone").split()
        if state != ["gone"]:
            locked = "locked" in state
            setting = "" if _is_alpha_form(name, release) else _SETTINGS.get(name, "")
            found[name] = Gate(name, state[0], state[1] == "on", setting, locked)
    return found


def _is_alpha_form(name: str, release: Release) -> bool:
    return name in _OF_GROUPS and Behavior.POD_GROUPS not in behaviors_of(release)


def asked_gates(release: Release = OLDEST) -> tuple[Gate, ...]:
    """Return the gates that kube-scheduler uses in a release."""
    return tuple(gate for name, gate in gates_of(release).items() if name in _SETTINGS)


def default_settings(release: Release) -> dict[str, bool]:
    """Return the world's settings that are gates, with the defaults of a release; a gate that the release does not have is off."""
    known = gates_of(release)
    return {setting: known[name].default if name in known else False for name, setting in _SETTINGS.items() if setting}


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The outcome of feature gates: all settings that are gates, and the names of gates without effect here."""

    settings: Mapping[str, bool]
    idle: tuple[str, ...] = ()


def read_gates(text: str, release: Release = OLDEST) -> GateSettings:
    """Parse `A=true,B=false`, with or without `--feature-gates=` before it. Other gates have their defaults. Raise GateError."""
    if len(text) > MAX_GATES_TEXT:
        raise GateError([f"received {len(text)} characters; expected at most {MAX_GATES_TEXT}"])
    gates: dict[str, bool] = {}
    for part in _without_flag(text.strip()).split(","):
        if part:
            name, value = _pair(part)
            gates[name] = value
    return resolve(gates, release)


def resolve(gates: Mapping[str, bool], release: Release = OLDEST) -> GateSettings:
    """Resolve gates by name. AllAlpha and AllBeta apply to gates that are not named themselves. Raise GateError."""
    known = gates_of(release)
    for name in gates:
        if name not in known and name not in _WHOLE_STAGES:
            raise GateError([f"unrecognized feature gate: {name}"])
    locked = {name: gate.default for name, gate in known.items() if gate.locked}
    if problems := [_format_lock(name, on) for name, on in gates.items() if locked.get(name, on) != on]:
        raise GateError(problems)
    if alpha := [name for name, on in gates.items() if on and _is_alpha_form(name, release)]:
        raise GateError(
            [
                f"{name}: the alpha form of pod groups in {release} is not modeled; expected release 1.37"
                for name in alpha
            ]
        )
    whole = {_WHOLE_STAGES[name]: on for name, on in gates.items() if name in _WHOLE_STAGES}
    settings = default_settings(release)
    for gate in asked_gates(release):
        if gate.setting and not gate.locked:
            settings[gate.setting] = gates.get(gate.name, whole.get(gate.stage, gate.default))
    if gates and Behavior.GATE_DEPENDENCIES in behaviors_of(release):
        free = ((name, gate) for name, gate in known.items() if not gate.locked)
        _check_needs(locked | {name: gates.get(name, whole.get(gate.stage, gate.default)) for name, gate in free})
    return GateSettings(settings, tuple(name for name in gates if name in known and name not in _SETTINGS))


def _check_needs(on: Mapping[str, bool]) -> None:
    """Raise GateError if an enabled gate depends on a disabled one."""
    lacking = {name: [each for each in needs.split() if not on.get(each, True)] for name, needs in _NEEDS.items()}
    problems = [
        f"{name} is enabled, but depends on features that are disabled: [{' '.join(lacks)}]"
        for name, lacks in lacking.items()
        if on.get(name) and lacks
    ]
    if problems:
        raise GateError(problems)


def _format_lock(name: str, on: bool) -> str:
    wanted, locked = str(on).lower(), str(not on).lower()
    return f"cannot set feature gate {name} to {wanted}, feature is locked to {locked}"


def format_gates(settings: Mapping[str, object], release: Release = OLDEST) -> str:
    """Return the gates that differ from kube's default, in the format of `--feature-gates`, or ""."""
    asked = sorted((gate for gate in asked_gates(release) if gate.setting), key=lambda gate: gate.name)
    return ",".join(
        f"{gate.name}={str(settings[gate.setting]).lower()}" for gate in asked if settings[gate.setting] != gate.default
    )


_TRUE, _FALSE = ("1", "t", "T", "TRUE", "true", "True"), ("0", "f", "F", "FALSE", "false", "False")


def _without_flag(text: str) -> str:
    for flag in ("--feature-gates=", "--feature-gates "):
        if text.startswith(flag):
            text = text.removeprefix(flag).strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _pair(part: str) -> tuple[str, bool]:
    name, equals, value = (each.strip() for each in part.partition("="))
    if not equals:
        raise GateError([f"missing bool value for {name}"])
    if value not in (*_TRUE, *_FALSE):
        said = f"strconv.ParseBool: parsing {json.dumps(value, ensure_ascii=False)}: invalid syntax"
        raise GateError([f"invalid value of {name}={value}, err: {said}"])
    return name, value in _TRUE
