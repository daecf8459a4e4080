"""Plugins that people name and kube-scheduler does not have: what they are, and whose.

Sources: the plugin folders of kubernetes-sigs/scheduler-plugins, koordinator-sh/koordinator, gocrane/crane-scheduler,
alibaba/open-local, alibaba/open-simulator, apache/yunikorn-k8shim, kubernetes-sigs/descheduler; kube's CHANGELOGs.
"""

from __future__ import annotations

_PLUGINS = "kubernetes-sigs/scheduler-plugins"
_KOORDINATOR = "koordinator-sh/koordinator"
_DESCHEDULER = "a plugin of the descheduler, which evicts pods and is configured by a DeschedulerPolicy; kube-scheduler never had it"
_VOLCANO = "a plugin of Volcano, a scheduler of its own with a configuration of its own; kube-scheduler never had it"
_SAMPLE = "a plugin that tutorials build"

_WHAT = {
    _PLUGINS: {
        "Coscheduling": "schedules the pods of a PodGroup all or none",
        "CapacityScheduling": "shares a cluster by ElasticQuotas, and preempts who borrows",
        "NodeResourcesAllocatable": "scores nodes by how much is allocatable on them",
        "NodeResourceTopologyMatch": "looks into the NUMA zones of nodes",
        "PreemptionToleration": "lets a PriorityClass tolerate being preempted for a while",
        "CrossNodePreemption": "preempts pods on several nodes for one pod",
        "TargetLoadPacking": "packs nodes up to a measured load (Trimaran)",
        "LoadVariationRiskBalancing": "scores nodes by the mean and the variation of their measured load (Trimaran)",
        "LowRiskOverCommitment": "scores nodes by the risk of overcommitting them (Trimaran)",
        "Peaks": "scores nodes by the power that the measured load draws (Trimaran)",
        "PodState": "scores nodes by their terminating and nominated pods",
        "QOSSort": "sorts the queue by priority, then by QoS class",
        "TopologicalSort": "sorts the queue by the order of an AppGroup",
        "NetworkOverhead": "keeps the pods of an AppGroup near each other in the network",
        "SySched": "keeps pods apart by the system calls they make",
        "DiskIO": "places pods by the disk I/O they need",
        "NodeMetadata": "scores nodes by a number or a time in their labels or annotations",
    },
    _KOORDINATOR: {
        "LoadAwareScheduling": "filters and scores nodes by measured load",
        "NodeNUMAResource": "binds pods to CPUs and NUMA nodes",
        "Reservation": "reserves resources for pods to come",
        "ElasticQuota": "shares a cluster by a tree of quotas",
        "DeviceShare": "shares GPUs and other devices",
        "BatchResourceFit": "fits batch resources",
        "CompatibleDefaultPreemption": "preempts as DefaultPreemption does, with koordinator's quotas",
        "DefaultPreBind": "writes what others decided in one patch",
        "NodeResourcesFitPlus": "scores by a strategy for each resource",
        "SchedulingHint": "tries first the nodes that a hint names",
        "ScarceResourceAvoidance": "keeps pods off nodes whose scarce resources they do not ask for",
    },
    "gocrane/crane-scheduler": {"Dynamic": "filters and scores nodes by measured load"},
    "alibaba/open-local": {"Open-Local": "places volumes on local disks"},
    "alibaba/open-simulator": {
        "Simon": "scores nodes in a simulation",
        "Open-Gpu-Share": "shares GPUs in a simulation",
    },
    "apache/yunikorn-k8shim": {"YuniKornPlugin": "lets YuniKorn choose the node"},
    "flux-framework/flux-k8s": {"Fluence": "lets Flux choose the nodes of a group"},
    "kubernetes-sigs/kube-scheduler-wasm-extension": {"wasm": "runs a plugin made as WebAssembly"},
}
_OTHERS = {
    "YuniKorn": "YuniKorn is a scheduler of its own; as a plugin it was called YuniKornPlugin",
    "NetworkTraffic": f"{_SAMPLE}: it scores nodes by their network traffic",
    "NodeNumber": f"{_SAMPLE}: it compares the last digit of the names of pod and node",
    "SamplePlugin": _SAMPLE,
    "sample-plugin": _SAMPLE,
}
_DESCHEDULERS = """
RemoveDuplicates LowNodeUtilization HighNodeUtilization RemovePodsViolatingInterPodAntiAffinity RemovePodsViolatingNodeAffinity
RemovePodsViolatingNodeTaints RemovePodsViolatingTopologySpreadConstraint RemovePodsHavingTooManyRestarts PodLifeTime RemoveFailedPods
DefaultEvictor
"""
_VOLCANOS = "gang binpack drf proportion nodeorder predicates conformance overcommit"
_STRATEGY = "since v1beta2 it is a scoringStrategy of NodeResourcesFit"
_GONE = {
    "NodeResourcesLeastAllocated": _STRATEGY,
    "NodeResourcesMostAllocated": _STRATEGY,
    "RequestedToCapacityRatio": _STRATEGY,
    "NodeLabel": "it went with v1beta2; addedAffinity of NodeAffinity says the like",
    "ServiceAffinity": "it went with v1beta2; affinity between pods says the like",
    "NodePreferAvoidPods": "it went with v1beta2; a taint PreferNoSchedule says the like",
    "SelectorSpread": "it went with v1; PodTopologySpread spreads by default",
    "DefaultPodTopologySpread": "it went with v1; PodTopologySpread spreads by default",
    "NodeResourceLimits": "it was alpha, and went in v1.20",
    "EBSLimits": "NodeVolumeLimits counts the volumes of all CSI drivers",
    "GCEPDLimits": "NodeVolumeLimits counts the volumes of all CSI drivers",
    "AzureDiskLimits": "NodeVolumeLimits counts the volumes of all CSI drivers",
    "CinderLimits": "NodeVolumeLimits counts the volumes of all CSI drivers",
}


def _all() -> dict[str, str]:
    said = {name: f"{what}; a plugin of {project}" for project, names in _WHAT.items() for name, what in names.items()}
    said["Coscheduling"] = f"{_WHAT[_PLUGINS]['Coscheduling']}; a plugin of {_PLUGINS}, and another of {_KOORDINATOR}"
    said |= _OTHERS
    said |= dict.fromkeys(_DESCHEDULERS.split(), _DESCHEDULER) | dict.fromkeys(_VOLCANOS.split(), _VOLCANO)
    return said | {name: f"was kube-scheduler's own: {why}" for name, why in _GONE.items()}


KNOWN = _all()


def about(name: str) -> str:
    """One sentence on a plugin that kube-scheduler does not have; "" where nothing is known of it."""
    return KNOWN.get(name, "")
