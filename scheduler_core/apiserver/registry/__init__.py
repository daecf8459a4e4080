"""The strategies of kube's registry: the API server's changes to objects of each kind, besides admission."""
