"""The scheduling framework: extension points, the plugins' interface, profiles, and the runtime of their plugins.

Most plugins import their names from here, less common names from the modules.
"""

from scheduler_core.scheduler.framework.arguments import Arguments, Given
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.framework.events import EVERYTHING, Action, ClusterEvent, ObjectEvent, On
from scheduler_core.scheduler.framework.explanation import Explanation, Paragraph, Words, gettext_noop, remark
from scheduler_core.scheduler.framework.features import DEFAULT_FEATURES, Features
from scheduler_core.scheduler.framework.formula import Formula
from scheduler_core.scheduler.framework.node_to_status import NodeToStatus, PluginStep
from scheduler_core.scheduler.framework.per_node import NodeInfo
from scheduler_core.scheduler.framework.plugin import Handle, Plugin, Point, PreFilterResult, Rows, Scores, Verdicts
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.framework.reasons import Reason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable

__all__ = ["DEFAULT_FEATURES", "EVERYTHING", "SKIP", "SUCCESS", "Action", "Arguments", "ClusterEvent", "Code"]
__all__ += ["CycleState", "Explanation", "Features", "Formula", "Given", "Handle", "NodeInfo", "NodeToStatus"]
__all__ += ["ObjectEvent", "On", "Paragraph", "Plugin", "PluginStep", "Point", "PreFilterResult", "Profile"]
__all__ += ["Reason", "Rows", "Scores", "Status", "Verdicts", "Words", "error", "gettext_noop", "remark"]
__all__ += ["Change", "Draft", "Edit", "Refusal", "unresolvable", "unschedulable"]
