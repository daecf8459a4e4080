"""The forms about the world around a scheduler: its settings, and calls that are to fail or to be slow."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.common.catalogs import read_yaml
from playground.workbench.forms.fields import PLAIN, WORDS, DurationField, PlainForm, TextField, add_words
from scheduler_core.scheduler import config
from scheduler_core.world.commands import FAULT_CODES, MAX_FAULT_MESSAGE, MAX_FAULT_TIMES

ABOUT = {name: _(text) for name, text in read_yaml(Path(__file__).with_name("gates.yaml")).items()}


RELEASES = [(each, f"v{each}") for each in config.RELEASES]


class GateField(forms.BooleanField):
    """A gate that can be set; its row on the page says the rest."""

    def __init__(self) -> None:
        super().__init__(required=False)


class Row(NamedTuple):
    """One gate on the page; `field` is None where nobody can set it."""

    gate: config.Gate
    about: Any
    field: forms.BoundField | None
    differs: bool


def gate_rows(form: forms.Form, release: config.Release) -> list[Row]:
    """Every gate that kube-scheduler asks for in a release."""
    rows = []
    for gate in config.asked_gates(release):
        field = form[gate.setting] if gate.setting and not gate.locked else None
        differs = field is not None and bool(field.value()) != gate.default
        rows.append(Row(gate, ABOUT[gate.name], field, differs))
    return rows


@add_words
class GatesForm(PlainForm):
    """The same as kube-scheduler's flag; what it does not name has its default."""

    gates = forms.CharField(
        required=False,
        max_length=config.MAX_GATES_TEXT,
        widget=forms.TextInput({**PLAIN, "placeholder": "--feature-gates=PodLevelResources=false,AllAlpha=true"}),
    )

    def __init__(self, *args: Any, release: config.Release = config.OLDEST, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release

    def clean_gates(self) -> config.GateSettings:
        try:
            return config.read_gates(self.cleaned_data["gates"], self.release)
        except config.GateError as wrong:
            raise ValidationError(wrong.problems) from wrong


class Group(NamedTuple):
    """Some fields; words.yaml has their title and a note."""

    name: str
    names: Sequence[str]


@add_words
class SettingsForm(PlainForm):
    """The settings of a world; names are WorldSettings' own."""

    groups = (
        Group("durations", ("cycle_cost", "bind_cost", "patch_cost", "evict_cost", "pod_start_latency", "device_cost")),
        Group("limits", ("informer_lag", "client_qps", "client_burst")),
        Group("startup", ("max_in_unschedulable", "demonstration")),
        Group("release", ("release",)),
        Group("gates", config.GATE_SETTINGS),
        Group("historical", ("queue_mode", "assumed_pod_ttl")),
    )

    release = forms.ChoiceField(required=False, choices=RELEASES)
    cycle_cost = DurationField()
    bind_cost = DurationField()
    patch_cost = DurationField()
    evict_cost = DurationField()
    pod_start_latency = DurationField()
    device_cost = DurationField()
    informer_lag = DurationField()
    client_qps = forms.IntegerField(min_value=0, max_value=10_000)
    client_burst = forms.IntegerField(min_value=1, max_value=10_000)
    max_in_unschedulable = DurationField()
    demonstration = forms.BooleanField(required=False)
    queue_mode = forms.ChoiceField()
    assumed_pod_ttl = DurationField()

    def __init__(
        self,
        *args: Any,
        release: config.Release = config.OLDEST,
        schedulers: Mapping[str, config.Release] | None = None,
        **kwargs: Any,
    ) -> None:
        """`release` is the world's: its gates are those on the page, whatever release is chosen there. `schedulers`: theirs, of several."""
        super().__init__(*args, **kwargs)
        self.of_release = release
        self.schedulers = {f"release_of_{name}": name for name in schedulers or ()}
        for name, own in (schedulers or {}).items():
            self.fields["release"].label = _("Whole cluster")
            label = _("Scheduler %(name)s") % {"name": name}
            self.fields[f"release_of_{name}"] = forms.ChoiceField(
                required=False, choices=RELEASES, initial=own, label=label
            )
        settable = {gate.setting for gate in config.asked_gates(release) if not gate.locked}
        for name in config.GATE_SETTINGS:
            if name in settable:
                self.fields[name] = GateField()

    def fieldsets(self) -> list[dict[str, Any]]:
        """Return the fieldsets for the template."""
        words = read_yaml(WORDS)["groups of SettingsForm"]
        return [
            {
                "historical": group.name == "historical",
                **{part: _(text) for part, text in words[group.name].items()},
                "fields": [self[name] for name in self._list_names(group) if name in self.fields],
                "gates": gate_rows(self, self.of_release) if group.name == "gates" else None,
            }
            for group in self.groups
        ]

    def _list_names(self, group: Group) -> Sequence[str]:
        return (*group.names, *self.schedulers) if "release" in group.names else group.names

    def differing(self, present: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a valid form that differ from the present; another release brings its gates itself."""
        now = {**present, **{field: self.fields[field].initial for field in self.schedulers}}
        changes = {name: value for name, value in self.cleaned_data.items() if value not in ("", now[name])}
        moves = "release" in changes
        own = {name: changes.pop(field) for field, name in self.schedulers.items() if field in changes}
        if own:
            releases = own if moves else {**present["scheduler_releases"], **own}
            release = changes.get("release", present["release"])
            changes["scheduler_releases"] = {name: each for name, each in releases.items() if each != release}
        return {name: value for name, value in changes.items() if not (moves and name in config.GATE_SETTINGS)}


def restarts(changes: dict[str, Any]) -> bool:
    """Return whether these changes restart schedulers."""
    return any(name in (*config.READ_AT_START, "scheduler_releases") for name in changes)


CALL_CHOICES = (
    ("bind", _("its binding")),
    ("status", _("writing its status (condition, nomination, reason of an eviction)")),
    ("delete", _("its deletion as a victim of preemption")),
    ("volumes", _("updating its claims and volumes (PreBind)")),
    ("claims", _("writing its ResourceClaims")),
)
ANSWERS = {
    403: _("403 Forbidden"),
    404: _("404 Not Found"),
    409: _("409 Conflict"),
    429: _("429 Too Many Requests: retried after 1 s"),
    500: _("500 Internal Server Error"),
    503: _("503 Service Unavailable"),
    504: _("504 Gateway Timeout: the call may have been carried out"),
}
SLOW = 0


@add_words
class CallForm(PlainForm):
    """The next API calls about a pod fail, or take their time."""

    pod = TextField(required=True, example="default/web-1", max_length=510)
    call = forms.ChoiceField(choices=CALL_CHOICES)
    code = forms.TypedChoiceField(
        coerce=int,
        initial=409,
        choices=(*((code, ANSWERS[code]) for code in FAULT_CODES), (SLOW, _("no error, delay only"))),
    )
    latency = DurationField(required=False)
    times = forms.IntegerField(min_value=1, max_value=MAX_FAULT_TIMES, initial=1)
    after_write = forms.BooleanField(required=False)
    message = TextField(max_length=MAX_FAULT_MESSAGE)

    def clean_pod(self) -> str:
        """A bare name is one of the namespace default, as kubectl takes it."""
        pod = str(self.cleaned_data["pod"])
        return pod if "/" in pod else f"default/{pod}"

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        if data["code"] == SLOW and data["latency"] is None:
            raise ValidationError({"latency": _("Enter a duration such as 3s, or choose a failing response.")})
        if data["code"] == SLOW and (data["after_write"] or data["message"]):
            raise ValidationError(
                {"code": _("Choose a failing response, because an error message or a lost response is set.")}
            )
        return data
