"""The kubelets of all nodes: they register and report their nodes, admit the pods that are bound to them, run and end these.

One controller does it for all of them, so that 5,000 idle nodes cost nothing. What runs in the containers is what a user says
(inputs/programs.py); what a kubelet remembers, and the API server does not know, is in memory/kubelet.py.

kube: pkg/kubelet @ v1.34.1
"""
