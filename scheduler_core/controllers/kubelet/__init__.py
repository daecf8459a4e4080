"""The kubelets of all nodes: they register and report their nodes, admit the pods bound to them, run and terminate these.

One controller represents all kubelets, so that 5,000 idle nodes cost nothing. The user declares the programs of containers
(inputs/programs.py); the kubelets' own state, which the API server does not have, is in memory/kubelet.py.

kube: pkg/kubelet @ v1.34.1
"""
