"""kube-scheduler: its core, framework, plugins, queue, cache, configuration, extenders, metrics, and leader election."""
