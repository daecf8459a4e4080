"""deployment-controller: rollouts from one ReplicaSet to the next."""
