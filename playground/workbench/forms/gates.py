"""kube's feature gates as a form: those that can be set, and in words why the others can't."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.workbench.forms.fields import PLAIN
from scheduler_core.base.releases import OLDEST, Release
from scheduler_core.scheduler.config import MAX_GATES_TEXT, Gate, GateError, Wanted, asked_gates, read_gates

ABOUT = {
    "SchedulerAsyncAPICalls": _("Status patches and bindings go out beside the scheduling cycles."),
    "SchedulerAsyncPreemption": _("Victims are evicted beside the scheduling cycles; the preemptor waits gated."),
    "SchedulerPopFromBackoffQ": _("With nothing active, the head of the backoff queue is tried before its time."),
    "NominatedNodeNameForExpectation": _("While a binding takes its time, the pod's status tells the expected node."),
    "PodObservedGenerationTracking": _(
        "Conditions that the scheduler writes say which generation of the pod they saw."
    ),
    "SchedulerQueueingHints": _("Plugins say which events may help a pod. The historical queue below does without."),
    "PodLevelResources": _(
        "spec.resources of a pod counts in place of its containers' requests: in the filter, in sums, for balance."
    ),
    "InPlacePodVerticalScaling": _(
        "A resized pod counts with what its status reports; shrinking one wakes pods that NodeResourcesFit refused."
    ),
    "SidecarContainers": _("Init containers that keep running count beside the others."),
    "MatchLabelKeysInPodTopologySpread": _(
        "matchLabelKeys narrow a constraint's selector. The API server merges them when a pod is created, so it "
        "shows on pods alone that came by another way."
    ),
    "NodeInclusionPolicyInPodTopologySpread": _("nodeAffinityPolicy and nodeTaintsPolicy of spread constraints."),
    "StorageCapacityScoring": _(
        "VolumeBinding scores nodes by how full their storage would be, by its argument shape."
    ),
    "VolumeAttributesClass": _(
        "A claim gets volumes of its VolumeAttributesClass; off, an unbound claim that has one is an error."
    ),
    "CSIMigrationPortworx": _("Portworx volumes count as those of its CSI driver where a node says so."),
    "DynamicResourceAllocation": _(
        "DynamicResources is among the default plugins. Off, the API server drops what pods claim, and claims lie idle."
    ),
    "DRAAdminAccess": _("adminAccess: devices in use may be claimed too, in namespaces that are labelled for it."),
    "DRAConsumableCapacity": _("Devices that several claims share, each taking some of their capacity."),
    "DRADeviceBindingConditions": _("A binding waits until a device's driver reports that it is ready."),
    "DRADeviceTaints": _("Devices are tainted by their driver or by rules; claims tolerate taints."),
    "DRAExtendedResource": _("A class answers for an extended resource that pods request as ever."),
    "DRAPartitionableDevices": _("Devices that are parts of one another draw on shared counters."),
    "DRAPrioritizedList": _("firstAvailable: a request with alternatives, the best first."),
    "DRAResourceClaimDeviceStatus": _("Drivers report on allocated devices in the claim's status."),
    "DRASchedulerFilterTimeout": _("The search for devices on one node ends after filterTimeout."),
    "NodeDeclaredFeatures": _("A pod that needs a feature of the kubelet runs only on nodes that declare the feature."),
    "TaintTolerationComparisonOperators": _("Tolerations compare a taint's value as a number, with Gt and Lt."),
    "VolumeLimitScaling": _("A node without the CSI driver of a volume is refused where the CSIDriver asks for that."),
    "InPlacePodLevelResourcesVerticalScaling": _("spec.resources of a running pod can be resized."),
}


class GateField(forms.BooleanField):
    """A gate that can be set; its row on the page says the rest."""

    def __init__(self) -> None:
        super().__init__(required=False)


class Row(NamedTuple):
    """One gate on the page; `field` is None where nobody can set it."""

    gate: Gate
    about: Any
    field: forms.BoundField | None
    differs: bool


def gate_rows(form: forms.Form, release: Release) -> list[Row]:
    """Every gate that kube-scheduler asks for in a release."""
    rows = []
    for gate in asked_gates(release):
        field = form[gate.setting] if gate.setting and not gate.locked else None
        differs = field is not None and bool(field.value()) != gate.default
        rows.append(Row(gate, ABOUT[gate.name], field, differs))
    return rows


class GatesForm(forms.Form):
    """The same as kube-scheduler's flag; what it does not name has its default."""

    use_required_attribute = False
    gates = forms.CharField(
        label=_("As kube-scheduler's flag"),
        required=False,
        max_length=MAX_GATES_TEXT,
        widget=forms.TextInput({**PLAIN, "placeholder": "--feature-gates=PodLevelResources=false,AllAlpha=true"}),
        help_text=_("all gates at once: those that are not named get their default"),
    )

    def __init__(self, *args: Any, release: Release = OLDEST, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release

    def clean_gates(self) -> Wanted:
        try:
            return read_gates(self.cleaned_data["gates"], self.release)
        except GateError as wrong:
            raise ValidationError(wrong.problems) from wrong
