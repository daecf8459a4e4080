"""The sentences of facts, by code (docs/explain.md)."""

from __future__ import annotations

from playground.presenters.words import gettext_noop

# Sources

_SOURCES = {
    "Containers": gettext_noop("The %(amount)s of %(pod)s are %(parts)s."),
    "LimitRange": gettext_noop(
        "LimitRange %(limitRange)s sets the request of container %(container)s to %(amount)s (by its field "
        "%(field)s), because the container has no request."
    ),
    "RequestFromLimit": gettext_noop(
        "Container %(container)s has no request of its own: its limit of %(amount)s counts as its request."
    ),
    "Overhead": gettext_noop("RuntimeClass %(runtimeClass)s adds an overhead of %(amount)s."),
    "Resize": gettext_noop(
        "A resize of %(pod)s on %(node)s to %(to)s is not done (%(reason)s): the scheduler counts the larger amount, %(amount)s."
    ),
    "ResizeInfeasible": gettext_noop(
        "%(pod)s requests %(to)s by a resize that is Infeasible: %(node)s is too small, the kubelet does not "
        "retry, and the pod keeps %(amount)s."
    ),
    "DefaultSpread": gettext_noop(
        "The spread over %(topologyKey)s is a default constraint of the scheduler's configuration: the pod has none of its own."
    ),
    "PriorityIsOld": gettext_noop(
        "%(pod)s has the priority %(priority)s, as PriorityClass %(priorityClass)s had when the pod was made. It is %(value)s by now: "
        "a pod keeps its priority."
    ),
    "InThousandths": gettext_noop(
        "Container %(container)s has %(name)s of %(text)s in its %(field)s: m means thousandths of a byte. Did you mean %(better)s?"
    ),
    "Priority": gettext_noop("The priority %(priority)s is from PriorityClass %(priorityClass)s."),
    "DefaultPriority": gettext_noop(
        "The priority %(priority)s is from PriorityClass %(priorityClass)s, the default of the cluster."
    ),
    "NamespaceSelector": gettext_noop("Namespace %(namespace)s adds %(label)s to the node selector of its pods."),
    "RuntimeClassSelector": gettext_noop("RuntimeClass %(runtimeClass)s adds %(label)s to the node selector."),
    "TemplateIsNewer": gettext_noop(
        "The template of %(kind)s %(owner)s now requests %(to)s. %(pod)s was created from an older template, "
        "with %(from)s."
    ),
    "TemplateDiffers": gettext_noop(
        "The template of %(kind)s %(owner)s now has another %(field)s. %(pod)s was created from an older template."
    ),
    "Deadline": gettext_noop("Its activeDeadlineSeconds are %(seconds)s."),
    "AsksForLabels": gettext_noop("%(pod)s requires nodes with %(labels)s, which %(node)s does not have."),
    "AsksForSystem": gettext_noop(
        "%(pod)s is for nodes with %(system)s (spec.os), and %(node)s runs another system: the scheduler does not look at spec.os."
    ),
    "LimitRangeLimits": gettext_noop(
        "LimitRange %(limitRange)s gives containers that state no limit a default limit (%(limits)s), below their request."
    ),
    "LimitRangeRefuses": gettext_noop("LimitRange %(limitRange)s of namespace %(namespace)s sets this limit."),
    "QuotaStatusIsOld": gettext_noop(
        "Admission goes by the status of quota %(quota)s, which its controller has not brought up to date with its spec: %(figures)s."
    ),
    "QuotaScope": gettext_noop("Quota %(quota)s counts only pods in its scope: %(scopes)s."),
    "QuotaFigures": gettext_noop(
        "One more pod needs %(each)s of %(name)s: quota %(quota)s has %(used)s of %(hard)s in use."
    ),
}

# Holders

_HOLDERS = {
    "HoldsCapacity": gettext_noop("%(pod)s holds %(amount)s on %(node)s."),
    "HoldsPort": gettext_noop("%(pod)s holds host port %(port)s/%(protocol)s on %(node)s."),
    "HoldsSlot": gettext_noop("%(pod)s counts toward the pod limit of %(node)s."),
    "HoldsVolumes": gettext_noop("%(pod)s has volumes attached to %(node)s: %(count)s."),
    "HoldsDevices": gettext_noop("%(pod)s on %(node)s holds %(devices)s by its claim %(claim)s."),
    "SharesClaim": gettext_noop(
        "%(pod)s on %(node)s also uses claim %(claim)s: the devices of the claim are on %(node)s, so its "
        "pods must run there."
    ),
    "UsesClaim": gettext_noop("%(pod)s on %(node)s uses claim %(claim)s."),
    "IsAvoided": gettext_noop(
        "The anti-affinity of the pod excludes %(pod)s, which runs on %(node)s (same %(topologyKey)s)."
    ),
    "IsItsPartner": gettext_noop("%(pod)s, which its affinity looks for, is on %(node)s."),
    "Repels": gettext_noop(
        "The anti-affinity of %(pod)s, which runs on %(node)s, excludes the pod (same %(topologyKey)s)."
    ),
    "CountsInDomain": gettext_noop("%(pod)s on %(node)s counts in %(topologyKey)s %(domain)s."),
    "IsNominated": gettext_noop(
        "Room on %(node)s is kept for %(pod)s, which is nominated to it with priority %(priority)s."
    ),
    "HoldsQuota": gettext_noop("%(pod)s uses %(used)s of %(name)s of quota %(quota)s."),
    "HoldsQuotaWithoutNode": gettext_noop(
        "%(pod)s is Pending, but still uses %(used)s of %(name)s of quota %(quota)s."
    ),
    "EndsAt": gettext_noop("%(pod)s is terminating for at most %(left)s more (its grace period is %(grace)s)."),
    "EndsWithGarbage": gettext_noop(
        "%(pod)s is terminating, and %(node)s no longer exists. The pod garbage collector removes the pod."
    ),
    "EndsNever": gettext_noop(
        "%(pod)s is terminating, and stays: the kubelet of %(node)s does not run. It goes when the kubelet is back, "
        "the node is deleted or marked out of service, or the pod is force-deleted."
    ),
    "EndsWithoutFinalizer": gettext_noop(
        "%(pod)s is terminating, and stays until its finalizers are removed: %(finalizers)s."
    ),
    "QuotaCountsUntil": gettext_noop(
        "Quota %(quota)s counts %(pod)s until it is recounted at %(until)s, after the end of the grace period."
    ),
}

# Notes, of which those about a pod's place and state come first

_NOTES = {
    "IsNotPlacedAgain": gettext_noop(
        "%(pod)s was set on %(node)s without a check of its room (by spec.nodeName, or beside another scheduler's pod), "
        "and a pod that has failed is not placed again."
    ),
    "MatchesItselfElsewhere": gettext_noop(
        "Its affinity looks for pods with %(selector)s in namespace %(namespaces)s, and %(pod)s is in another namespace: "
        "it can't be the first of its group."
    ),
    "AffinityLooksFor": gettext_noop(
        "Its affinity looks for pods with %(selector)s in namespace %(namespaces)s, in the same %(topologyKey)s."
    ),
    "NoNamespaceMatches": gettext_noop(
        "Its affinity looks for pods with %(selector)s in namespaces with %(namespaceSelector)s, and no namespace has these labels."
    ),
    "AlmostTolerates": gettext_noop(
        "%(pod)s has a toleration of this key that does not cover %(taint)s: it has the %(has)s."
    ),
    "EmptyTerm": gettext_noop("The node affinity of %(pod)s has an empty term, and an empty term matches no node."),
    "TooFewDomains": gettext_noop(
        "minDomains is %(minDomains)s, and %(topologyKey)s has %(there)s domains: the lowest count is taken as 0."
    ),
    "NamedNodeIsGone": gettext_noop("%(pod)s may only run on %(names)s (metadata.name), and there is no such node."),
    "NotAllocatable": gettext_noop(
        "%(node)s has %(capacity)s of %(name)s (capacity), of which its kubelet offers none (allocatable): its device plugin takes them "
        "for unhealthy, or does not run."
    ),
    "NoNodeHasAll": gettext_noop(
        "%(pod)s requires %(requirements)s. Some nodes meet each of them, but no node meets all."
    ),
    "HostNetworkPorts": gettext_noop("With hostNetwork every containerPort of %(pod)s is a host port: %(ports)s."),
    "DevicesHaveToMatch": gettext_noop(
        "%(source)s wants devices of one node with the same %(attribute)s, and no node has enough free ones that match."
    ),
    "ClaimIsMissing": gettext_noop("Claim %(claim)s does not exist."),
    "OutOfMemory": gettext_noop(
        "Container %(container)s was killed at its memory limit of %(limit)s (OOMKilled). Restarts: %(count)s."
    ),
    "LastEnd": gettext_noop(
        "Container %(container)s ended last with exit code %(exitCode)s (%(reason)s). Restarts: %(count)s."
    ),
    "IsSuspended": gettext_noop("%(kind)s %(owner)s is suspended (spec.suspend is true) and starts no pods."),
    "QueueHoldsBack": gettext_noop("The Kueue queue %(queue)s decides when %(kind)s %(owner)s continues."),
    "NamespaceEnds": gettext_noop("Namespace %(namespace)s is terminating, so no new objects can be created in it."),
    "NamespaceWaitsFor": gettext_noop(
        "Namespace %(namespace)s cannot be removed before the finalizers of these pods: %(pods)s."
    ),
    "IsPaused": gettext_noop("Deployment %(owner)s is paused."),
    "PausedRollout": gettext_noop("Deployment %(owner)s is paused: its new template is not rolled out."),
    "DevicesAreCounted": gettext_noop(
        "Request %(request)s of %(source)s needs %(count)s devices of one node. Devices by node: %(devices)s."
    ),
    "AllDevicesAreAsked": gettext_noop(
        "Request %(request)s of %(source)s requires all matching devices of a node (allocationMode All): each device must be free."
    ),
    "OffersInstead": gettext_noop("In place of %(resource)s, there is %(other)s on %(nodes)s."),
    "PolicyIsIgnore": gettext_noop(
        "%(policies)s is Ignore in the spread over %(topologyKey)s, so that %(domains)s counts. Nodes that would take the pod "
        "with Honor: %(passing)s."
    ),
    "PluginIsDisabled": gettext_noop(
        "The profile %(profile)s does not run %(plugin)s, which would have refused %(node)s: %(message)s."
    ),
    "DevicesAreSelected": gettext_noop(
        "Request %(request)s of %(source)s takes only devices for which this is true: %(expression)s."
    ),
    "Disrupted": gettext_noop("%(pod)s was evicted (%(reason)s): %(message)s"),
    "EvictedByTaint": gettext_noop("%(pod)s was evicted from %(node)s: it does not tolerate %(taints)s there."),
    "EvictedFor": gettext_noop(
        "%(pod)s is preempted for %(pods)s, which has a higher priority and is nominated to %(node)s."
    ),
    "WaitsForProvisioner": gettext_noop(
        "The binding of %(pod)s waits for provisioner %(provisioner)s to provision a volume for claim "
        "%(claim)s on %(node)s."
    ),
    "PoolIsIncomplete": gettext_noop(
        "%(there)s of %(wanted)s ResourceSlices of generation %(generation)s of pool %(pool)s (%(driver)s) are there: "
        "the pool counts as incomplete until its driver has published the others."
    ),
    "NoClassWanted": gettext_noop(
        'Claim %(claim)s has the storageClassName "", which means a volume without a class. The default '
        "class does not apply."
    ),
    "NodeIsCordoned": gettext_noop("%(node)s is cordoned, and an eviction of %(pod)s would be refused."),
    "LabelsAreMissing": gettext_noop("%(pod)s requires nodes with %(labels)s, which %(node)s does not have."),
    "SelectsNotItself": gettext_noop(
        "The selector of the spread over %(topologyKey)s (%(selector)s) does not match %(pod)s itself: it does not spread the pod."
    ),
    "ToleratesAll": gettext_noop(
        "%(pod)s has a toleration without a key, which tolerates every taint, so %(taint)s of %(node)s too."
    ),
    "Tolerates": gettext_noop("%(pod)s tolerates the taint %(taint)s of %(node)s."),
    "TermsAreAlternatives": gettext_noop(
        "The %(terms)s nodeSelectorTerms of %(pod)s are alternatives: %(node)s meets term %(term)s, and one "
        "is enough. Put requirements that must hold together in one term."
    ),
    "TolerationDoesNotDraw": gettext_noop(
        "%(pod)s tolerates the taint %(taint)s of %(other)s. A toleration allows that node but does not "
        "prefer it; a node selector or affinity does."
    ),
    "OnlyPrefers": gettext_noop(
        "%(pod)s only prefers nodes with %(requirement)s (%(nodes)s): a preference adds points, and keeps no node out."
    ),
    "PrefersNobody": gettext_noop("%(pod)s prefers nodes with %(requirement)s (weight %(weight)s), and there is none."),
    "MeetsWithoutLabel": gettext_noop(
        "%(node)s has no label %(key)s, and meets %(requirement)s for this very reason: NotIn is true for nodes without the label."
    ),
    "SoftTerm": gettext_noop(
        "%(pod)s only prefers to avoid %(pods)s. A preference affects the score and excludes no node."
    ),
    "DaemonLeavesOut": gettext_noop(
        "DaemonSet %(owner)s creates no pod for %(node)s: its template does not tolerate %(taints)s."
    ),
    "DaemonSelectsOthers": gettext_noop(
        "DaemonSet %(owner)s creates no pod for %(node)s: its node selector does not match."
    ),
    "QuotaOfOther": gettext_noop("Quota %(quota)s is about another object that the pod needs: %(message)s."),
    "FiltersLeft": gettext_noop("The filters left %(count)s of %(total)s nodes."),
    "OnlyNode": gettext_noop("Only %(node)s passed the filters."),
    "HighestScore": gettext_noop(
        "%(node)s scored %(score)s, the highest. The second is %(other)s with %(otherScore)s."
    ),
    "OtherScoresHigher": gettext_noop(
        "%(other)s would score %(otherScore)s now, and %(node)s %(score)s: the cluster has changed since the "
        "pod was scheduled, or not all nodes were examined."
    ),
    "Tie": gettext_noop("%(node)s and %(nodes)s have the same score of %(score)s: the scheduler chose at random."),
    "DecidingPlugin": gettext_noop(
        "%(plugin)s decided: %(points)s points for %(node)s, %(otherPoints)s for %(other)s."
    ),
    "AgainstIt": gettext_noop("%(plugin)s preferred %(other)s: %(otherPoints)s points, %(points)s for %(node)s."),
    "BypassedScheduler": gettext_noop(
        "%(pod)s names %(node)s in spec.nodeName, so no scheduler and no filter was involved."
    ),
    "IsStatic": gettext_noop(
        "%(pod)s is a static pod: the kubelet of %(node)s runs it from a file, and no scheduler is asked."
    ),
    "RuleNotAsked": gettext_noop("%(plugin)s would have refused %(node)s: %(message)s."),
    "RuleOfNewPods": gettext_noop(
        "%(plugin)s would refuse %(node)s for %(pod)s now (%(message)s): this is asked when a pod is scheduled, not of pods that run."
    ),
    "TermLooksInNamespace": gettext_noop(
        "The anti-affinity looks into namespace %(namespaces)s alone, and does not see %(pods)s of another namespace. "
        "A namespaceSelector or namespaces in the term would widen it."
    ),
    "NodeWithoutLabel": gettext_noop(
        "%(node)s has no label %(topologyKey)s: the anti-affinity over it does not apply there."
    ),
    "FirstOfItsGroup": gettext_noop(
        "%(pod)s matches its own affinity, and no other pod does: the first pod of a group may go anywhere."
    ),
    "NotCounted": gettext_noop(
        "The spread over %(topologyKey)s does not count %(pods)s on %(nodes)s: the pod can't go to that node, and %(policies)s is Honor."
    ),
    "SoftSpread": gettext_noop(
        "The spread over %(topologyKey)s is ScheduleAnyway: it affects the score and excludes no node."
    ),
    "AsksForNothing": gettext_noop("%(pod)s requests no cpu and no memory, so it fits every node."),
    "CountForLittle": gettext_noop(
        "Pods on %(node)s that state no requests either: %(count)s. Whatever they use, they count for next to nothing in the scores."
    ),
    "LimitUnknown": gettext_noop("%(node)s has no CSINode: %(plugin)s knows no limit there, and lets every pod pass."),
    "NobodySelectsNode": gettext_noop(
        "Class %(storageClass)s waits for the scheduler to select a node for claim %(claim)s, but %(pod)s "
        "skips the scheduler."
    ),
    "EvictedAt": gettext_noop("%(pod)s is evicted from %(node)s at %(until)s, as its tolerations end then."),
    "EvictedAfter": gettext_noop(
        "%(pod)s tolerates the taints of %(node)s for %(seconds)s: it is evicted when this time has passed since they were set."
    ),
    "ToleratesForever": gettext_noop(
        "%(pod)s tolerates the taint of %(node)s without a time limit, so it is not evicted."
    ),
    "FullDisruption": gettext_noop(
        "None of the %(total)s nodes of %(zone)s is ready, so the node lifecycle controller evicts no pods."
    ),
    "PartialDisruption": gettext_noop(
        "%(lost)s of %(total)s nodes of %(zone)s are lost, which is %(threshold)s%% or more. In a zone of up "
        "to %(size)s nodes, no pods are evicted then."
    ),
    "NobodyReplaces": gettext_noop("No controller owns %(pod)s, so it will not be recreated."),
    "SameNameWaits": gettext_noop("StatefulSet %(owner)s creates no second %(pod)s while the first one exists."),
    "LastEvent": gettext_noop("%(reporter)s at %(time)s: %(reason)s (%(message)s)."),
    "GoneSince": gettext_noop("%(pod)s was deleted at %(time)s."),
    "SecurityIsNotChecked": gettext_noop(
        "Namespace %(namespace)s enforces the Pod Security level %(level)s. This model does not check it: a real cluster may refuse "
        "the pods."
    ),
    "WorkloadHas": gettext_noop("%(kind)s %(owner)s. Replicas: %(wanted)s. Pods: %(pods)s. Ready: %(ready)s."),
    "PodIsNotReady": gettext_noop("%(pod)s is not ready (%(why)s)."),
    "RolloutStuck": gettext_noop("The rollout of %(owner)s is stuck: %(message)s"),
    "WaitsForEnd": gettext_noop("%(kind)s %(owner)s creates no new pod before %(pod)s has terminated (%(rule)s)."),
    "UpdatedOnDelete": gettext_noop(
        "%(kind)s %(owner)s has the update strategy OnDelete: %(pods)s of the old revision stay until they are deleted."
    ),
    "KeptByPartition": gettext_noop(
        "%(kind)s %(owner)s has partition %(partition)s in its rolling update: %(pods)s keep the old revision."
    ),
    "UpdateWaitsFor": gettext_noop(
        "The update of %(kind)s %(owner)s waits for %(pod)s on %(node)s, which is not available: maxUnavailable is %(most)s. "
        "Pods of the old revision: %(count)s."
    ),
    "ForbidsSecond": gettext_noop(
        "CronJob %(owner)s starts no other Job as long as %(job)s has not ended: its concurrencyPolicy is Forbid."
    ),
    "JobIsRefused": gettext_noop("CronJob %(owner)s can't create its next Job: %(message)s."),
    "MissedStarts": gettext_noop("Starts that CronJob %(owner)s has missed in the last %(left)s: %(count)s."),
    "DeadlineIsShort": gettext_noop(
        "CronJob %(owner)s skips a start that its controller sees more than %(seconds)s late (startingDeadlineSeconds). "
        "Below 10 s, starts may be skipped without a fault."
    ),
    "SkipsLateStarts": gettext_noop(
        "CronJob %(owner)s skips a start that its controller sees more than %(seconds)s late (startingDeadlineSeconds)."
    ),
    "LastStart": gettext_noop("CronJob %(owner)s (%(schedule)s) started its last Job %(left)s ago."),
    "NextStart": gettext_noop("CronJob %(owner)s (%(schedule)s) starts next at %(until)s."),
    "BadSchedule": gettext_noop(
        "CronJob %(owner)s starts nothing: its schedule %(schedule)s can't be read (%(message)s)."
    ),
    "IndexesFailed": gettext_noop(
        "Job %(owner)s makes no further pod for its failed indexes (%(indexes)s): backoffLimitPerIndex is %(limit)s."
    ),
    "KeptForSurge": gettext_noop(
        "The rollout of %(kind)s %(owner)s (%(rule)s) keeps %(pods)s of the old revision until new pods are ready."
    ),
    "JobFailed": gettext_noop("Job %(owner)s has failed (%(reason)s): %(message)s"),
    "NodesWithoutPod": gettext_noop("DaemonSet %(owner)s has no pod for %(nodes)s."),
    "WaitsInOrder": gettext_noop(
        "StatefulSet %(owner)s creates its pods in order: %(pods)s must wait until %(pod)s is ready."
    ),
    "ScaleDownWaits": gettext_noop(
        "StatefulSet %(owner)s scales in order: %(pods)s are not removed before %(pod)s is ready."
    ),
    "WantsNone": gettext_noop("%(kind)s %(owner)s wants no pods: its %(field)s is 0."),
    "AvailableLater": gettext_noop(
        "Ready pods of %(kind)s %(owner)s count as available only after %(seconds)s (minReadySeconds): %(pods)s."
    ),
    "OldRevisionStays": gettext_noop(
        "StatefulSet %(owner)s waits for %(pod)s and does not replace it. After you delete the pod, it is "
        "recreated from the new template."
    ),
    "BeyondReplicas": gettext_noop(
        "StatefulSet %(owner)s does not want %(pod)s: its replicas are %(replicas)s, with ordinals from %(start)s on (%(names)s)."
    ),
    "DrainStuck": gettext_noop("The drain of %(node)s is stuck: %(pods)s cannot be evicted."),
    "SeveralBudgets": gettext_noop(
        "%(budgets)s select %(pod)s, and an eviction under more than one PodDisruptionBudget is always refused."
    ),
    "BudgetAllowsNone": gettext_noop(
        "Budget %(budget)s protects %(pod)s. Healthy pods: %(healthy)s. Required: %(desired)s."
    ),
    "BudgetMisses": gettext_noop(
        "Budget %(budget)s also selects pods that are not ready, and do not count: %(missed)s."
    ),
    "BudgetIsNotCounted": gettext_noop(
        "Budget %(budget)s allows no eviction of %(pod)s, as its controller can't count its pods (SyncFailed): %(message)s."
    ),
    "BudgetKeepsUnready": gettext_noop(
        "Budget %(budget)s keeps %(pod)s, although the pod is not ready: %(healthy)s of %(desired)s pods are healthy, and "
        "unhealthyPodEvictionPolicy is %(policy)s. AlwaysAllow would let the pod go."
    ),
    "ScopeNeedsQuota": gettext_noop(
        "Namespace %(namespace)s needs a ResourceQuota whose scopeSelector allows the PriorityClass %(priorityClass)s."
    ),
    "TriedAgainAt": gettext_noop("%(kind)s %(owner)s tries again at %(until)s."),
    "ControllerBacksOff": gettext_noop(
        "The quota has room again. The controller of %(kind)s %(owner)s backs off after its failures, and tries again at %(until)s: "
        "any change of the %(kind)s makes it try at once."
    ),
    "GroupBelowQuorum": gettext_noop(
        "Group %(group)s needs %(needed)s pods on nodes at once. It has %(members)s pods, and %(scheduled)s of them have a node."
    ),
    "GroupCycleFailed": gettext_noop("The last cycle of group %(group)s ended with: %(message)s"),
    "PreemptsNever": gettext_noop("%(pod)s preempts no pods: its preemptionPolicy is Never."),
    "NoLowerPriority": gettext_noop("%(pod)s preempts no pods: no pod has a priority below %(priority)s."),
    "NoLowerPriorityOnNode": gettext_noop(
        "No pod on %(node)s has a lower priority than %(priority)s, so none can be evicted there."
    ),
    "VictimsTooSmall": gettext_noop(
        "Evicting all pods of lower priority on %(node)s would free %(freed)s: %(short)s are missing."
    ),
    "VictimsDoNotHelp": gettext_noop("Evicting pods on %(node)s would not help: %(message)s."),
    "NeedsItsVictims": gettext_noop(
        "%(pod)s must run near %(pods)s, whose priority %(theirs)s is below %(priority)s. Preemption would "
        "delete the pod that it needs, so it preempts no pods."
    ),
    "WokenByEndOf": gettext_noop("The queue retries %(pod)s as soon as one of these pods terminates: %(holders)s."),
    "NotWokenByEndOf": gettext_noop(
        "The end of %(holder)s would not wake %(pod)s: the queueing hints of %(plugins)s skip it, and the queue tries again by itself."
    ),
    "SlippedBy": gettext_noop(
        "%(holder)s has ended since the last attempt, and the queueing hints of %(plugins)s did not wake %(pod)s for it."
    ),
    "NodeIsLost": gettext_noop("%(node)s has this taint because its kubelet does not report."),
    "TaintOfCondition": gettext_noop(
        "%(node)s has this taint because its kubelet reports %(condition)s (%(message)s)."
    ),
    "NodeIsNotReady": gettext_noop(
        "%(node)s has this taint because its kubelet says that the node is not ready (%(message)s)."
    ),
    "TaintSetByHand": gettext_noop(
        "An administrator sets the taint %(key)s of %(nodes)s when a node has failed, and must also remove it."
    ),
    "TaintIsTemporary": gettext_noop(
        "The taint %(key)s of %(nodes)s is temporary: it is up to %(setter)s to remove it."
    ),
    "ClaimOfStatefulSet": gettext_noop(
        "Claim %(claim)s is from a volumeClaimTemplate of StatefulSet %(owner)s, whose controller recreates it."
    ),
    "SelectedNodeIsGone": gettext_noop(
        "Claim %(claim)s has the annotation selected-node: %(node)s. The node %(node)s no longer exists, and "
        "every other node is refused."
    ),
    "SelectedNode": gettext_noop(
        "Claim %(claim)s has the annotation selected-node: %(node)s: every other node is refused until it is removed."
    ),
    "VolumeTies": gettext_noop(
        "Volume %(volume)s of claim %(claim)s can be reached from nodes with %(affinity)s alone."
    ),
    "TemplateIsMissing": gettext_noop(
        "ResourceClaimTemplate %(template)s does not exist, so no claim is created for %(entry)s."
    ),
    "ClaimIsRefused": gettext_noop(
        "The API server refuses the claim of ResourceClaimTemplate %(template)s: %(message)s."
    ),
    "MadeBeforeItsPod": gettext_noop(
        "StorageClass %(storageClass)s binds at once (Immediate): %(volume)s was made before a node was chosen for the pod."
    ),
    "ClassSelectsOthers": gettext_noop(
        "DeviceClass %(deviceClass)s takes only devices for which this is true: %(expression)s. The drivers here are: %(drivers)s."
    ),
    "ClassTopologies": gettext_noop(
        "StorageClass %(storageClass)s makes volumes only for nodes with %(topologies)s (allowedTopologies)."
    ),
    "PoolReaches": gettext_noop(
        "The devices of pool %(pool)s (%(driver)s) are for nodes with %(affinity)s alone, and not for %(nodes)s."
    ),
    "DevicesHave": gettext_noop("Devices have: %(devices)s."),
    "AttachLimit": gettext_noop("%(driver)s attaches at most %(limit)s volumes to %(node)s."),
    "StorageIsTold": gettext_noop(
        "Claim %(claim)s requests %(size)s of class %(storageClass)s. Its driver publishes this capacity: %(rooms)s."
    ),
    "ClaimOfTemplate": gettext_noop("The claim for %(entry)s is created from ResourceClaimTemplate %(template)s."),
    "DeviceClassIsMissing": gettext_noop(
        "%(source)s requests devices of the class %(deviceClass)s, but this DeviceClass does not exist. "
        "Install it or its driver."
    ),
    "PoolOverNodes": gettext_noop(
        "The pool %(pool)s of %(driver)s has slices on %(nodes)s. The scheduler drops the slices of other "
        "nodes and considers the pool incomplete, although it is not being updated. Use a pool for each node."
    ),
}
TEXTS = {**_SOURCES, **_HOLDERS, **_NOTES}

PARTS = {
    "container": gettext_noop("%(amount)s of container %(name)s"),
    "sidecar": gettext_noop("%(amount)s of sidecar %(name)s"),
    "init": gettext_noop("%(amount)s of init container %(name)s"),
    "overhead": gettext_noop("%(amount)s of overhead"),
    "pod": gettext_noop("%(amount)s of the pod's own resources"),
}
