"""The base class of plugins from other repositories, whose real configurations may have arguments unknown here."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.scheduler.framework.plugin import Handle, Plugin


class OutOfTreePlugin(Plugin):
    """Base class of plugins with lenient arguments: unknown arguments have no effect, and missing ones receive defaults."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        if self.arguments is not None:
            self.args = {**args, **self.arguments.defaults(args, handle.features)}
