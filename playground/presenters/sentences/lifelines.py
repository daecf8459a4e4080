"""Who takes part in a sequence diagram, in the order in which the lifelines stand."""

from __future__ import annotations

from playground.presenters.words import gettext_noop

USER = "user"
API = "api"
CONTROLLERS = "controllers"
HANDLERS = "handlers"
QUEUE = "queue"
CYCLE = "cycle"
PLUGINS = "plugins"
CACHE = "cache"
BINDING = "binding"
KUBELET = "kubelet"
PROCESS = "process"
ELECTOR = "elector"

TITLES = {
    USER: (gettext_noop("User"), "kubectl"),
    API: (gettext_noop("API server"), gettext_noop("store and watch")),
    CONTROLLERS: (gettext_noop("Controllers"), gettext_noop("of workloads …")),
    HANDLERS: (gettext_noop("Informers"), gettext_noop("event handlers")),
    QUEUE: (gettext_noop("Queue"), gettext_noop("of pods to try")),
    CYCLE: (gettext_noop("Scheduling"), gettext_noop("cycle: one pod")),
    PLUGINS: (gettext_noop("Plugins"), gettext_noop("framework")),
    CACHE: (gettext_noop("Cache"), gettext_noop("nodes with pods")),
    BINDING: (gettext_noop("Binding"), gettext_noop("cycle, API calls")),
    KUBELET: (gettext_noop("Kubelet"), gettext_noop("on the node")),
    PROCESS: (gettext_noop("Process"), "kube-scheduler"),
    ELECTOR: (gettext_noop("Elector"), gettext_noop("leader election")),
}
OF_A_POD = (USER, API, CONTROLLERS, HANDLERS, QUEUE, CYCLE, PLUGINS, CACHE, BINDING, KUBELET)
OF_A_START = (USER, PROCESS, HANDLERS, ELECTOR, API, QUEUE, CYCLE)
