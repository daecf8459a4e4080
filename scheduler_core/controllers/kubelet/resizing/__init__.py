"""In-place resizes of pods: the decision, and what keeps it from being carried out."""
