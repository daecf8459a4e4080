"""Plugins of one's own, tried on the world as it is."""

from __future__ import annotations

import msgspec

from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.protocol.plugins import PluginTried, TryPlugin
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Refused, Simulation
from scheduler_core.analysis.inspection import trial
from scheduler_core.world.commands import DefinePlugin, command_from_json

MOST_PODS = 200


@answers(TryPlugin)
def try_plugin(engine: Engine, request: TryPlugin) -> Steps[PluginTried]:
    world = yield from engine.at(request.position)
    pods = _pods(world)
    if request.definition is None:
        return PluginTried(pods=pods)
    try:
        command = command_from_json({"kind": "DefinePlugin", "plugin": request.name, "definition": request.definition})
        assert isinstance(command, DefinePlugin)
        assert command.definition is not None
        pod = world.store.pod_at(request.pod or next(iter(pods), ""))
        if pod is None:
            return PluginTried([FieldProblem("pod", request.pod, "a pod that exists at this step")], pods=pods)
        tried = trial(world, request.name, command.definition, pod)
    except Refused as refused:
        return PluginTried([FieldProblem(**each.to_json()) for each in refused.errors], pods=pods)
    return PluginTried(trial=msgspec.to_builtins(tried), pods=pods)


def _pods(world: Simulation) -> list[str]:
    """Return the keys of pods, pending ones first."""
    pods = sorted(world.store.pods(), key=lambda pod: bool(pod.node_name))
    return [pod.key for pod in pods[:MOST_PODS]]
