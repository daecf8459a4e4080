"""The disruption controller: how many pods each PodDisruptionBudget lets go now."""
