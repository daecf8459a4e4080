"""The declaration for every field of kube's API: what the engine reads, and what has no effect, by the type that has the field.

tests/scheduler_core/formats/unsupported/test_declared.py fails on a field that is not declared, on a field declared as read that the
engine's sources do not name, and on a field declared as without effect that they name. test_measured.py runs pods with such
fields and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_core.formats.unsupported import reasons


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a type, as names with blanks between them.

    `silent`: a cluster acts on them and this one does not, by the reason. `idle`: no cluster acts on them, or a cluster alone writes them.
    """

    read: str = ""
    silent: Mapping[str, str] = field(default_factory=dict)
    idle: str = ""


WHOLE_KINDS = {
    "Service": "nothing is routed; the scheduler alone reads its selector, to spread the Service's pods",
    **dict.fromkeys(
        ("Endpoints", "EndpointSlice", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR", "IPAddress"),
        reasons.TRAFFIC,
    ),
    "HorizontalPodAutoscaler": "nothing scales workloads by their load; scale them yourself",
    "ServiceAccount": reasons.IDENTITY,
    **dict.fromkeys(("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"), reasons.RIGHTS),
    "ConfigMap": reasons.NO_FILES,
    "Secret": reasons.NO_FILES,
    "PodTemplate": "nothing makes pods of it, in kube neither",
    "VolumeAttributesClass": "volumes keep the attributes that they were made with",
    "CustomResourceDefinition": "custom resources are kept, and no controller acts on them",
}
# Groups of kube's own, and of its components, whose kinds are kept as custom resources are.
WHOLE_GROUPS = {
    "admissionregistration.k8s.io": reasons.NO_WEBHOOKS,
    "apiregistration.k8s.io": "there is one API server, which asks no other",
    "certificates.k8s.io": "there are no certificates here",
    "flowcontrol.apiserver.k8s.io": "the API server answers every request at once: none waits, and none is turned away",
    "internal.apiserver.k8s.io": reasons.ONE_SERVER,
    "storagemigration.k8s.io": "objects are kept in one version",
    "authentication.k8s.io": reasons.RIGHTS,
    "authorization.k8s.io": reasons.RIGHTS,
    "imagepolicy.k8s.io": reasons.ANY_IMAGE,
    "kubelet.config.k8s.io": reasons.IN_SETTINGS,
}
# Labels and annotations with a meaning, by kind.
MEANT = {
    ("Namespace", "labels", f"pod-security.kubernetes.io/{mode}"): (reasons.POD_SECURITY, ("privileged",))
    for mode in ("enforce", "audit", "warn")
}

# Types of which the engine reads every field.
_WHOLLY_READ = """
Affinity NodeAffinity PodAffinity PodAntiAffinity PodAffinityTerm WeightedPodAffinityTerm PreferredSchedulingTerm NodeSelector
NodeSelectorTerm NodeSelectorRequirement LabelSelector LabelSelectorRequirement TopologySpreadConstraint Toleration Taint
PodOS PodReadinessGate PodSchedulingGate PodResourceClaim ResourceClaim ResourceRequirements VolumeResourceRequirements
ContainerResizePolicy SleepAction EphemeralVolumeSource EmptyDirVolumeSource OwnerReference NamespaceSpec
PersistentVolumeClaimTemplate VolumeNodeAffinity VolumeNodeResources TopologySelectorTerm TopologySelectorLabelRequirement
DeploymentSpec DeploymentStrategy RollingUpdateDeployment ReplicaSetSpec ReplicationControllerSpec DaemonSetSpec
DaemonSetUpdateStrategy RollingUpdateDaemonSet StatefulSetSpec StatefulSetUpdateStrategy RollingUpdateStatefulSetStrategy
StatefulSetOrdinals StatefulSetPersistentVolumeClaimRetentionPolicy PodTemplateSpec JobTemplateSpec JobSpec PodFailurePolicy
PodFailurePolicyRule PodFailurePolicyOnExitCodesRequirement PodFailurePolicyOnPodConditionsPattern SuccessPolicy
SuccessPolicyRule CronJobSpec PodDisruptionBudgetSpec LimitRangeSpec LimitRangeItem ResourceQuotaSpec ScopeSelector
ScopedResourceSelectorRequirement LeaseSpec CSINodeSpec Overhead Scheduling
resource/v1.ResourceClaimSpec resource/v1.ResourceClaimTemplateSpec resource/v1.DeviceClaim resource/v1.DeviceRequest
resource/v1.ExactDeviceRequest resource/v1.DeviceSubRequest resource/v1.DeviceSelector resource/v1.CELDeviceSelector
resource/v1.DeviceToleration resource/v1.DeviceConstraint resource/v1.CapacityRequirements resource/v1.DeviceClassSpec
resource/v1.ResourceSliceSpec resource/v1.ResourcePool resource/v1.Device resource/v1.DeviceAttribute resource/v1.DeviceCapacity
resource/v1.CapacityRequestPolicy resource/v1.CapacityRequestPolicyRange resource/v1.Counter resource/v1.CounterSet
resource/v1.DeviceCounterConsumption resource/v1.DeviceTaint resource/v1alpha3.DeviceTaintRuleSpec
resource/v1alpha3.DeviceTaintSelector resource/v1alpha3.DeviceTaint resource/v1alpha3.DeviceSelector
resource/v1alpha3.CELDeviceSelector
"""
WHOLLY_READ = frozenset(_WHOLLY_READ.split())

_DISKS = "gcePersistentDisk awsElasticBlockStore cinder azureDisk azureFile vsphereVolume portworxVolume csi"
_OTHER_VOLUMES = "glusterfs flexVolume cephfs flocker fc quobyte photonPersistentDisk scaleIO storageos"
_AZURE_FILE = "secretName shareName readOnly"
_ISCSI = "targetPortal lun iscsiInterface fsType portals chapAuthDiscovery chapAuthSession secretRef initiatorName"

FIELDS: Mapping[str, Fields] = {
    "ObjectMeta": Fields(
        "name generateName namespace uid resourceVersion generation creationTimestamp deletionTimestamp"
        " deletionGracePeriodSeconds labels annotations ownerReferences finalizers",
        idle="selfLink managedFields",
    ),
    "PodSpec": Fields(
        "volumes initContainers containers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds nodeSelector nodeName"
        " hostNetwork affinity schedulerName tolerations priorityClassName priority readinessGates runtimeClassName"
        " preemptionPolicy overhead topologySpreadConstraints os schedulingGates resourceClaims resources schedulingGroup",
        {
            reasons.IDENTITY: "serviceAccountName serviceAccount automountServiceAccountToken",
            reasons.ANY_IMAGE: "imagePullSecrets",
            reasons.NODE: "securityContext hostPID hostIPC hostUsers shareProcessNamespace",
            reasons.DNS: "dnsPolicy dnsConfig hostAliases hostname subdomain setHostnameAsFQDN enableServiceLinks",
            reasons.GATED: "hostnameOverride",
            reasons.PROGRAM: "ephemeralContainers",
        },
    ),
    "Container": Fields(
        "name image ports resources resizePolicy restartPolicy lifecycle",
        {
            reasons.PROGRAM: "command args workingDir env envFrom livenessProbe readinessProbe startupProbe stdin stdinOnce tty"
            " terminationMessagePath terminationMessagePolicy",
            reasons.PULLED: "imagePullPolicy",
            reasons.NODE: "securityContext",
            reasons.NO_FILES: "volumeMounts volumeDevices",
            reasons.GATED: "restartPolicyRules",
        },
    ),
    "ContainerPort": Fields("hostPort containerPort protocol hostIP", idle="name"),
    "Lifecycle": Fields("preStop", {reasons.PROGRAM: "postStart", reasons.GATED: "stopSignal"}),
    "LifecycleHandler": Fields("sleep", {reasons.PROGRAM: "exec httpGet tcpSocket"}),
    "Volume": Fields(
        f"name persistentVolumeClaim ephemeral emptyDir iscsi rbd {_DISKS}",
        {
            reasons.NO_FILES: "hostPath nfs image projected configMap secret downwardAPI gitRepo",
            reasons.NOT_MOUNTED: _OTHER_VOLUMES,
        },
    ),
    "PersistentVolumeClaimVolumeSource": Fields("claimName", {reasons.NOT_MOUNTED: "readOnly"}),
    "GCEPersistentDiskVolumeSource": Fields("pdName readOnly", {reasons.NOT_MOUNTED: "fsType partition"}),
    "AWSElasticBlockStoreVolumeSource": Fields("volumeID readOnly", {reasons.NOT_MOUNTED: "fsType partition"}),
    "ISCSIVolumeSource": Fields("iqn readOnly", {reasons.NOT_MOUNTED: _ISCSI}),
    "RBDVolumeSource": Fields("monitors image pool readOnly", {reasons.NOT_MOUNTED: "fsType user keyring secretRef"}),
    "CinderVolumeSource": Fields("volumeID", {reasons.NOT_MOUNTED: "fsType readOnly secretRef"}),
    "CinderPersistentVolumeSource": Fields("volumeID", {reasons.NOT_MOUNTED: "fsType readOnly secretRef"}),
    "AzureDiskVolumeSource": Fields("diskURI kind", {reasons.NOT_MOUNTED: "diskName cachingMode fsType readOnly"}),
    "AzureFileVolumeSource": Fields(silent={reasons.NOT_MOUNTED: _AZURE_FILE}),
    "AzureFilePersistentVolumeSource": Fields(silent={reasons.NOT_MOUNTED: f"{_AZURE_FILE} secretNamespace"}),
    "VsphereVirtualDiskVolumeSource": Fields(
        silent={reasons.NOT_MOUNTED: "volumePath fsType storagePolicyName storagePolicyID"}
    ),
    "PortworxVolumeSource": Fields("volumeID", {reasons.NOT_MOUNTED: "fsType readOnly"}),
    "CSIVolumeSource": Fields("driver", {reasons.NOT_MOUNTED: "readOnly fsType volumeAttributes nodePublishSecretRef"}),
    "CSIPersistentVolumeSource": Fields(
        "driver volumeHandle",
        {
            reasons.NOT_MOUNTED: "readOnly fsType volumeAttributes controllerPublishSecretRef nodeStageSecretRef"
            " nodePublishSecretRef controllerExpandSecretRef nodeExpandSecretRef"
        },
    ),
    "HostPathVolumeSource": Fields("path", {reasons.NOT_MOUNTED: "type"}),
    "PersistentVolumeClaimSpec": Fields(
        "accessModes selector resources volumeName storageClassName volumeMode volumeAttributesClassName",
        {reasons.NOT_MOUNTED: "dataSource dataSourceRef"},
    ),
    "PersistentVolumeSpec": Fields(
        f"capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName volumeMode nodeAffinity"
        f" volumeAttributesClassName hostPath {_DISKS}",
        {reasons.NOT_MOUNTED: f"mountOptions nfs local iscsi rbd {_OTHER_VOLUMES}"},
    ),
    "ObjectReference": Fields("namespace name uid", idle="apiVersion kind resourceVersion fieldPath"),
    "NodeSpec": Fields(
        "unschedulable taints",
        {reasons.TRAFFIC: "podCIDR podCIDRs", reasons.CLOUD: "providerID", reasons.IN_SETTINGS: "configSource"},
        idle="externalID",
    ),
    "PriorityClass": Fields("value globalDefault preemptionPolicy", idle="description"),
    "PodSchedulingGroup": Fields("podGroupName"),
    "PodGroupSpec": Fields(
        "schedulingPolicy schedulingConstraints disruptionMode priorityClassName priority preemptionPolicy",
        {
            "groups of groups, and claims of groups, are not modeled": "parentCompositePodGroupName workloadRef resourceClaims"
        },
    ),
    "PodGroupSchedulingPolicy": Fields("basic gang"),
    "PodGroupGangPolicy": Fields("minCount"),
    "PodGroupDisruptionMode": Fields("single all"),
    "PodGroupSchedulingConstraints": Fields("topology"),
    "PodGroupTopologyConstraint": Fields("key"),
    "StorageClass": Fields(
        "provisioner reclaimPolicy allowVolumeExpansion volumeBindingMode allowedTopologies",
        {reasons.PROVISIONED: "parameters", reasons.NOT_MOUNTED: "mountOptions"},
    ),
    "RuntimeClass": Fields("overhead scheduling", {reasons.PROGRAM: "handler"}),
    "ControllerRevision": Fields("data revision"),
    "CSINodeDriver": Fields("name topologyKeys allocatable", idle="nodeID"),
    "CSIDriverSpec": Fields(
        "attachRequired storageCapacity",
        {
            reasons.NOT_MOUNTED: "podInfoOnMount volumeLifecycleModes fsGroupPolicy tokenRequests requiresRepublish"
            " seLinuxMount nodeAllocatableUpdatePeriodSeconds"
        },
    ),
    "CSIStorageCapacity": Fields("nodeTopology storageClassName capacity maximumVolumeSize"),
    "VolumeAttachmentSpec": Fields("attacher source nodeName"),
    "VolumeAttachmentSource": Fields("persistentVolumeName", idle="inlineVolumeSpec"),
    "resource/v1.DeviceClaimConfiguration": Fields("requests", {reasons.NO_DRIVERS: "opaque"}),
    "resource/v1.DeviceClassConfiguration": Fields(silent={reasons.NO_DRIVERS: "opaque"}),
}
