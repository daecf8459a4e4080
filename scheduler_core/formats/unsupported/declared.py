"""The declaration for every field of kube's API: what the engine reads, and what has no effect, by the type that has the field.

tests/scheduler_core/formats/unsupported/test_declared.py fails on a field that is not declared, on a field declared as read that the
engine's sources do not name, and on a field declared as without effect that they name. test_measured.py runs pods with such
fields and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The reasons why something has no effect here, in plain words.

TRAFFIC = "there is no network here: nothing is routed or filtered"
RIGHTS = "everybody may do everything here"
PROGRAM = (
    "containers run no program: the cluster's programs say how long they run, how they end and when they are ready"
)
NO_FILES = "containers have no files: nothing is mounted, and what is missing keeps no pod from starting"
NOT_MOUNTED = "volumes are bound, but hold no data and are not mounted"
NODE = "what a container may do on its node plays no part here"
NO_DRIVERS = "there are no drivers that would read it; allocations carry it all the same"
IDENTITY = "pods run without service accounts and their tokens"
DNS = "there is no DNS here"
PULLED = "images are pulled when they are not on the node, and are never missing"
ANY_IMAGE = "every image can be pulled by everybody"
GATED = "kube v1.34 drops it, unless a feature gate that is off by default is switched on"
PROVISIONED = "provisioners make any volume that a claim asks for"
CLOUD = "there is no cloud provider behind the nodes"
IN_SETTINGS = "kubelets are configured in the cluster's settings"
POD_SECURITY = (
    "Pod Security admission does not run here: no pod is refused or warned about for what it may do on its node"
)
NO_WEBHOOKS = "no webhook is called and no admission policy is evaluated: neither refuses or changes an object"
ONE_SERVER = "there is one API server, which everybody reaches"
NO_PROCESS = "there is no process to be profiled"
NO_CONTROLLER = "it is kept, and no controller acts on it"


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
        ("Endpoints", "EndpointSlice", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR", "IPAddress"), TRAFFIC
    ),
    "HorizontalPodAutoscaler": "nothing scales workloads by their load; scale them yourself",
    "ServiceAccount": IDENTITY,
    **dict.fromkeys(("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"), RIGHTS),
    "ConfigMap": NO_FILES,
    "Secret": NO_FILES,
    "PodTemplate": "nothing makes pods of it, in kube neither",
    "VolumeAttributesClass": "volumes keep the attributes that they were made with",
    "CustomResourceDefinition": "custom resources are kept, and no controller acts on them",
}
# Groups of kube's own, and of its components, whose kinds are kept as custom resources are.
WHOLE_GROUPS = {
    "admissionregistration.k8s.io": NO_WEBHOOKS,
    "apiregistration.k8s.io": "there is one API server, which asks no other",
    "certificates.k8s.io": "there are no certificates here",
    "flowcontrol.apiserver.k8s.io": "the API server answers every request at once: none waits, and none is turned away",
    "internal.apiserver.k8s.io": ONE_SERVER,
    "storagemigration.k8s.io": "objects are kept in one version",
    "authentication.k8s.io": RIGHTS,
    "authorization.k8s.io": RIGHTS,
    "imagepolicy.k8s.io": ANY_IMAGE,
    "kubelet.config.k8s.io": IN_SETTINGS,
}
# Labels and annotations with a meaning, by kind.
MEANT = {
    ("Namespace", "labels", f"pod-security.kubernetes.io/{mode}"): (POD_SECURITY, ("privileged",))
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
            IDENTITY: "serviceAccountName serviceAccount automountServiceAccountToken",
            ANY_IMAGE: "imagePullSecrets",
            NODE: "securityContext hostPID hostIPC hostUsers shareProcessNamespace",
            DNS: "dnsPolicy dnsConfig hostAliases hostname subdomain setHostnameAsFQDN enableServiceLinks",
            GATED: "hostnameOverride",
            PROGRAM: "ephemeralContainers",
        },
    ),
    "Container": Fields(
        "name image ports resources resizePolicy restartPolicy lifecycle",
        {
            PROGRAM: "command args workingDir env envFrom livenessProbe readinessProbe startupProbe stdin stdinOnce tty"
            " terminationMessagePath terminationMessagePolicy",
            PULLED: "imagePullPolicy",
            NODE: "securityContext",
            NO_FILES: "volumeMounts volumeDevices",
            GATED: "restartPolicyRules",
        },
    ),
    "ContainerPort": Fields("hostPort containerPort protocol hostIP", idle="name"),
    "Lifecycle": Fields("preStop", {PROGRAM: "postStart", GATED: "stopSignal"}),
    "LifecycleHandler": Fields("sleep", {PROGRAM: "exec httpGet tcpSocket"}),
    "Volume": Fields(
        f"name persistentVolumeClaim ephemeral emptyDir iscsi rbd {_DISKS}",
        {NO_FILES: "hostPath nfs image projected configMap secret downwardAPI gitRepo", NOT_MOUNTED: _OTHER_VOLUMES},
    ),
    "PersistentVolumeClaimVolumeSource": Fields("claimName", {NOT_MOUNTED: "readOnly"}),
    "GCEPersistentDiskVolumeSource": Fields("pdName readOnly", {NOT_MOUNTED: "fsType partition"}),
    "AWSElasticBlockStoreVolumeSource": Fields("volumeID readOnly", {NOT_MOUNTED: "fsType partition"}),
    "ISCSIVolumeSource": Fields("iqn readOnly", {NOT_MOUNTED: _ISCSI}),
    "RBDVolumeSource": Fields("monitors image pool readOnly", {NOT_MOUNTED: "fsType user keyring secretRef"}),
    "CinderVolumeSource": Fields("volumeID", {NOT_MOUNTED: "fsType readOnly secretRef"}),
    "CinderPersistentVolumeSource": Fields("volumeID", {NOT_MOUNTED: "fsType readOnly secretRef"}),
    "AzureDiskVolumeSource": Fields("diskURI kind", {NOT_MOUNTED: "diskName cachingMode fsType readOnly"}),
    "AzureFileVolumeSource": Fields(silent={NOT_MOUNTED: _AZURE_FILE}),
    "AzureFilePersistentVolumeSource": Fields(silent={NOT_MOUNTED: f"{_AZURE_FILE} secretNamespace"}),
    "VsphereVirtualDiskVolumeSource": Fields(
        silent={NOT_MOUNTED: "volumePath fsType storagePolicyName storagePolicyID"}
    ),
    "PortworxVolumeSource": Fields("volumeID", {NOT_MOUNTED: "fsType readOnly"}),
    "CSIVolumeSource": Fields("driver", {NOT_MOUNTED: "readOnly fsType volumeAttributes nodePublishSecretRef"}),
    "CSIPersistentVolumeSource": Fields(
        "driver volumeHandle",
        {
            NOT_MOUNTED: "readOnly fsType volumeAttributes controllerPublishSecretRef nodeStageSecretRef"
            " nodePublishSecretRef controllerExpandSecretRef nodeExpandSecretRef"
        },
    ),
    "HostPathVolumeSource": Fields("path", {NOT_MOUNTED: "type"}),
    "PersistentVolumeClaimSpec": Fields(
        "accessModes selector resources volumeName storageClassName volumeMode volumeAttributesClassName",
        {NOT_MOUNTED: "dataSource dataSourceRef"},
    ),
    "PersistentVolumeSpec": Fields(
        f"capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName volumeMode nodeAffinity"
        f" volumeAttributesClassName hostPath {_DISKS}",
        {NOT_MOUNTED: f"mountOptions nfs local iscsi rbd {_OTHER_VOLUMES}"},
    ),
    "ObjectReference": Fields("namespace name uid", idle="apiVersion kind resourceVersion fieldPath"),
    "NodeSpec": Fields(
        "unschedulable taints",
        {TRAFFIC: "podCIDR podCIDRs", CLOUD: "providerID", IN_SETTINGS: "configSource"},
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
        {PROVISIONED: "parameters", NOT_MOUNTED: "mountOptions"},
    ),
    "RuntimeClass": Fields("overhead scheduling", {PROGRAM: "handler"}),
    "ControllerRevision": Fields("data revision"),
    "CSINodeDriver": Fields("name topologyKeys allocatable", idle="nodeID"),
    "CSIDriverSpec": Fields(
        "attachRequired storageCapacity",
        {
            NOT_MOUNTED: "podInfoOnMount volumeLifecycleModes fsGroupPolicy tokenRequests requiresRepublish"
            " seLinuxMount nodeAllocatableUpdatePeriodSeconds"
        },
    ),
    "CSIStorageCapacity": Fields("nodeTopology storageClassName capacity maximumVolumeSize"),
    "VolumeAttachmentSpec": Fields("attacher source nodeName"),
    "VolumeAttachmentSource": Fields("persistentVolumeName", idle="inlineVolumeSpec"),
    "resource/v1.DeviceClaimConfiguration": Fields("requests", {NO_DRIVERS: "opaque"}),
    "resource/v1.DeviceClassConfiguration": Fields(silent={NO_DRIVERS: "opaque"}),
}
