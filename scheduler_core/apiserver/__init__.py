"""The simulated API server: objects by kind and name, watches, Kubernetes Events, and injected faults.

A write passes requests -> admission -> validation -> store; the watchers get each stored change. The most common names are exported here,
the others by the modules.
"""

from scheduler_core.apiserver.faults import Fault, Faults
from scheduler_core.apiserver.kinds import KINDS, Kind, find_kind, get_kind_by_key
from scheduler_core.apiserver.kube_events import NORMAL, WARNING, KubeEvent
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.rewriting import with_condition, with_section
from scheduler_core.apiserver.status import DONE, Answer, Refused, conflict, not_found
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.watch import ADDED, DELETED, WatchEvent

__all__ = ["ADDED", "DELETED", "DONE", "KINDS", "NORMAL", "WARNING", "APIServerOptions", "Answer", "Fault", "Faults"]
__all__ += ["Kind", "KubeEvent", "Refused", "Store", "WatchEvent", "conflict", "find_kind", "get_kind_by_key"]
__all__ += ["not_found", "with_condition", "with_section"]
