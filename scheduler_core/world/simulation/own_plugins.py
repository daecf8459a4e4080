"""The command for custom CEL plugins: validated completely, then the schedulers that use the plugin restart."""

from collections.abc import Mapping

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.plugins.cel import EXPRESSIONS, MOST_PLUGINS, Definition, problems_of
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.world.commands import DefinePlugin, refuse
from scheduler_core.world.simulation.edits import EditableWorld


def settings_with(world: EditableWorld, command: DefinePlugin) -> WorldSettings:
    """Return the world's settings with the plugin redefined. Raise Refused."""
    plugins = dict(world.settings.plugins)
    if command.definition is None:
        plugin = command.plugin
        if plugin not in world.settings.plugins:
            raise refuse("plugin", plugin, "a custom plugin, but none has this name")
        for scheduler in world.schedulers:
            if plugin in used_by(scheduler):
                raise refuse("plugin", plugin, f"a plugin that no profile uses, but a profile of {scheduler.name} does")
        del plugins[command.plugin]
    else:
        _require_name(world, command.plugin)
        require_compiled(command.definition)
        plugins[command.plugin] = command.definition
    return world.settings.changed({"plugins": plugins})


def restarting(world: EditableWorld, settings: WorldSettings) -> tuple[str, ...]:
    """Return the schedulers that must restart under other settings: all, or those whose plugins or release differ."""
    if settings.needs_restart(world.settings):
        return tuple(scheduler.name for scheduler in world.schedulers)
    before, after = world.settings.plugins, settings.plugins
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return tuple(
        s.name
        for s in world.schedulers
        if any(name in used_by(s) for name in differing)
        or settings.release_of(s.name) != world.settings.release_of(s.name)
    )


def used_by(scheduler: Scheduler) -> Mapping[str, None]:
    """The names of the plugins in its profiles."""
    profiles = scheduler.effective.profiles
    return dict.fromkeys(name for p in profiles for entries in p.plugins.values() for name, _ in entries)


def _require_name(world: EditableWorld, plugin: str) -> None:
    if plugin in registry():
        raise refuse("plugin", plugin, "a name that no other plugin has")
    if plugin not in world.settings.plugins and len(world.settings.plugins) >= MOST_PLUGINS:
        raise refuse("plugin", plugin, f"at most {MOST_PLUGINS} custom plugins")


def require_compiled(definition: Definition) -> None:
    """Refused, with the places of all that is wrong."""
    if not any(getattr(definition, field) for field in EXPRESSIONS):
        raise refuse("definition", "", "an expression for at least one extension point")
    problems = problems_of(definition)
    if problems:
        raise Refused(
            FieldError(f"definition.{wrong.field}", "", wrong.message, line=wrong.line, column=wrong.column + 1)
            for wrong in problems
        )
