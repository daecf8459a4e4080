"""What the plugins here have in common: configurations in the wild name them with arguments that are known elsewhere."""

from collections.abc import Mapping
from typing import Any

from scheduler_core.scheduler.framework.plugin import Handle, Plugin


class OutOfTreePlugin(Plugin):
    """A plugin with lenient arguments: what it does not know of them has no effect, defaults are filled in when it is made."""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        if self.arguments is not None:
            self.args = {**args, **self.arguments.defaults(args, handle.features)}
