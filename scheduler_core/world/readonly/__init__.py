"""What can be seen of a world, and the field's words: all that presenters and other readers need. Nothing here changes anything."""

from scheduler_core.apimachinery.objects import FieldError, InvalidObject, Pod, controller_of, parse_duration
from scheduler_core.apimachinery.objects.loading import LoadedObject, LoadLimits, forget_places, load_manifests
from scheduler_core.apimachinery.objects.names import label_errors, subdomain_errors
from scheduler_core.apimachinery.objects.quantity import BadQuantity, format_quantity, parse_quantity
from scheduler_core.apimachinery.objects.resources import pod_requests
from scheduler_core.apimachinery.objects.spec import Toleration
from scheduler_core.apimachinery.objects.times import NEVER, format_time, parse_time
from scheduler_core.apiserver import KINDS, KubeEvent
from scheduler_core.apiserver.faults import BIND as BIND_CALL
from scheduler_core.apiserver.imports.items import DECIDING, snapshot_command
from scheduler_core.apiserver.server import count_standing
from scheduler_core.base.trace.journal import Attempt, Move, Place
from scheduler_core.base.trace.records import DESCRIPTIONS, Record
from scheduler_core.controllers.memory.kubelet import Kill
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.actions import AdvanceBinding, AnswerCall, ExpireAssumedPod
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle, Trial
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.extenders.exchange import Exchange
from scheduler_core.scheduler.extenders.extender import EXTENDER_NAME, Extender, Verb
from scheduler_core.scheduler.framework import Code, Point, Status
from scheduler_core.scheduler.framework.events import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POD_CREATED,
    UNSCHEDULABLE_TIMEOUT,
    Action,
    ClusterEvent,
    On,
    action_name,
)
from scheduler_core.scheduler.framework.groups import min_count
from scheduler_core.scheduler.framework.node_to_status import NOT_EVALUATED, PASSED, NodeToStatus, PluginStep
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.preemption.choice import budgets_of, earliest_start
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Evidence, Reprieve
from scheduler_core.scheduler.framework.runtime.framework import StepFacts
from scheduler_core.scheduler.queue.hints import list_registrations
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.readonly.cycles import BindingCycleView, CycleView, SchedulingCycleView, SearchView
from scheduler_core.world.readonly.objects import CacheView, StoreView
from scheduler_core.world.readonly.queue import QueueView
from scheduler_core.world.readonly.world import (
    CONTROLLER_NAMES,
    RECORD_FIELDS,
    PluginView,
    ProfileView,
    SchedulerView,
    WorldView,
    nobody,
)

__all__ = ["ATTEMPT_FAILED", "BACKOFF_COMPLETE", "BIND_CALL", "CONTROLLER_NAMES", "DECIDING", "DESCRIPTIONS"]
__all__ += ["EXTENDER_NAME", "FORCE_ACTIVATE", "KINDS", "NEVER", "NOT_EVALUATED", "PASSED", "POD_CREATED"]
__all__ += ["RECORD_FIELDS", "UNSCHEDULABLE_TIMEOUT", "Action", "AdvanceBinding", "AnswerCall", "Attempt"]
__all__ += ["BadQuantity", "BindingCycleView", "CacheView", "Candidate", "ClusterEvent", "Code", "CycleView"]
__all__ += ["Evidence", "Exchange", "ExpireAssumedPod", "Extender", "FieldError", "GroupCycle", "InvalidObject"]
__all__ += [
    "Kill",
    "KubeEvent",
    "LoadLimits",
    "LoadedObject",
    "Move",
    "NodeTable",
    "NodeToStatus",
    "On",
    "Phase",
    "Place",
]
__all__ += ["PluginStep", "PluginView", "Pod", "Point", "ProfileView", "QueueView", "QueuedPod", "Record", "Reprieve"]
__all__ += ["SchedulerView", "SchedulingCycleView", "ScoreBoard", "SearchView", "Status", "StepFacts", "StoreView"]
__all__ += ["Toleration", "Trial", "Verb", "WorldView", "action_name", "budgets_of", "controller_of"]
__all__ += ["count_standing", "earliest_start", "forget_places", "format_quantity", "format_time"]
__all__ += ["label_errors", "list_registrations", "load_manifests", "min_count", "nobody", "parse_duration"]
__all__ += ["parse_quantity", "parse_time", "pod_requests", "snapshot_command", "subdomain_errors"]
