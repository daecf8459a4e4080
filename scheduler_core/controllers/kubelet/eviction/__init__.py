"""Node-pressure eviction: what a kubelet measures every 10 s, and which pod it ends where too little is left.

Nothing is looked at while nothing can have changed: the next housekeeping at which something may be otherwise is computed.

kube: pkg/kubelet/eviction @ v1.34.1
"""
