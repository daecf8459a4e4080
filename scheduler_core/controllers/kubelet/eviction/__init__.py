"""Node-pressure eviction: a kubelet's measurements every 10 s, and the pod that it evicts under pressure.

There are no polls while nothing can change: the next housekeeping with a possible new result is computed.

kube: pkg/kubelet/eviction @ v1.34.1
"""
