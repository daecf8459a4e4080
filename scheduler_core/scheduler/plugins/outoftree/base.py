"""The base class of the out-of-tree plugins: real configurations pass arguments that only the original plugins read."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.scheduler.framework.plugin import Handle, Plugin


class OutOfTreePlugin(Plugin):
    """A plugin with lenient arguments: unknown ones have no effect, and defaults are set on construction."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        if self.arguments is not None:
            self.args = {**args, **self.arguments.defaults(args, handle.features)}
