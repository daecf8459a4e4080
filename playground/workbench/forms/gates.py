"""kube's feature gates as a form: those that can be set, and in words why the others can't."""

from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.workbench.forms.fields import PLAIN
from scheduler_core.scheduler.config import (
    MAX_GATES_TEXT,
    OLDEST,
    Gate,
    GateError,
    Release,
    Wanted,
    asked_gates,
    read_gates,
)

ABOUT = {
    "SchedulerAsyncAPICalls": _("Status patches and bindings are sent outside the scheduling cycles."),
    "SchedulerAsyncPreemption": _(
        "Victims are deleted outside the scheduling cycles. Meanwhile the preemptor is gated."
    ),
    "SchedulerPopFromBackoffQ": _("If the active queue is empty, the head of the backoff queue is tried early."),
    "NominatedNodeNameForExpectation": _("During a binding, the pod's status shows the expected node."),
    "PodObservedGenerationTracking": _("Conditions from the scheduler name the generation of the pod that it saw."),
    "SchedulerQueueingHints": _(
        "Plugins decide which events may help a pod. The historical queue below does not use hints."
    ),
    "PodLevelResources": _("spec.resources of a pod replaces its containers' requests in filters, sums, and balance."),
    "InPlacePodVerticalScaling": _(
        "A resized pod counts with the resources in its status. Shrinking a pod wakes pods that "
        "NodeResourcesFit refused."
    ),
    "SidecarContainers": _("Init containers that keep running count together with the other containers."),
    "MatchLabelKeysInPodTopologySpread": _(
        "matchLabelKeys narrow a constraint's selector. The API server merges them when a pod is created, so "
        "only pods created otherwise show a difference."
    ),
    "NodeInclusionPolicyInPodTopologySpread": _("nodeAffinityPolicy and nodeTaintsPolicy of spread constraints."),
    "StorageCapacityScoring": _(
        "VolumeBinding scores nodes by the utilization of their storage, with its shape argument."
    ),
    "VolumeAttributesClass": _(
        "A claim gets volumes of its VolumeAttributesClass. If off, an unbound claim with such a class is an error."
    ),
    "CSIMigrationPortworx": _("Portworx volumes count for their CSI driver if the node says so."),
    "DynamicResourceAllocation": _(
        "DynamicResources is one of the default plugins. If off, the API server drops the claims of pods, "
        "and ResourceClaims have no effect."
    ),
    "DRAAdminAccess": _("adminAccess: devices in use can be claimed, too, in namespaces with the required label."),
    "DRAConsumableCapacity": _("Several claims can share a device. Each takes some of its capacity."),
    "DRADeviceBindingConditions": _("A binding waits until the device's driver reports the device ready."),
    "DRADeviceTaints": _("Drivers or rules taint devices. Claims can tolerate taints."),
    "DRAExtendedResource": _("A device class provides an extended resource that pods request."),
    "DRAPartitionableDevices": _("Devices that overlap draw on shared counters."),
    "DRAPrioritizedList": _("firstAvailable: a request with alternatives, in order of preference."),
    "DRAResourceClaimDeviceStatus": _("Drivers report the state of allocated devices in the claim's status."),
    "DRASchedulerFilterTimeout": _("The search for devices on a node ends after filterTimeout."),
    "NodeDeclaredFeatures": _("A pod that needs a feature of the kubelet runs only on nodes that declare the feature."),
    "TaintTolerationComparisonOperators": _("Tolerations compare a taint's value as a number, with Gt and Lt."),
    "VolumeLimitScaling": _("A node without the CSI driver of a volume is refused if the CSIDriver requires this."),
    "InPlacePodLevelResourcesVerticalScaling": _("spec.resources of a running pod can be resized."),
    "OpportunisticBatching": _("A pod like the one before takes the next node of its list and is not scored."),
    "GenericWorkload": _("PodGroups: the pods of a group are placed together, or not at all."),
    "TopologyAwareWorkloadScheduling": _("A PodGroup can require one zone, rack, or other domain for all its pods."),
    "PodGroupPreemptionPolicy": _("A PodGroup says whether it preempts other pods."),
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
        help_text=_("all gates; gates not named here get their default"),
    )

    def __init__(self, *args: Any, release: Release = OLDEST, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release

    def clean_gates(self) -> Wanted:
        try:
            return read_gates(self.cleaned_data["gates"], self.release)
        except GateError as wrong:
            raise ValidationError(wrong.problems) from wrong
