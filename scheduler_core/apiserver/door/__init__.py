"""The API server's HTTP surface: paths, discovery, tables, selectors, and bodies, as data; no socket."""

from scheduler_core.apiserver.door.access import impersonate
from scheduler_core.apiserver.door.answers import JSON, Failure, Reply, as_yaml
from scheduler_core.apiserver.door.bodies.hashing import hash_template
from scheduler_core.apiserver.door.managed import finish_as_component
from scheduler_core.apiserver.door.reading import is_on
from scheduler_core.apiserver.door.requests import Call, answer_read, answer_write, changes_nothing, read_body
from scheduler_core.apiserver.door.tables.pods import print_pod
from scheduler_core.apiserver.door.tables.row import human_duration
from scheduler_core.apiserver.door.watching import Watcher

__all__ = ["JSON", "Call", "Failure", "Reply", "Watcher", "answer_read", "answer_write", "as_yaml", "changes_nothing"]
__all__ += ["finish_as_component", "hash_template", "human_duration", "impersonate", "is_on", "print_pod", "read_body"]
