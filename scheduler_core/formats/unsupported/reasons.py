"""The reasons why something has no effect here, in plain words."""

from __future__ import annotations

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
