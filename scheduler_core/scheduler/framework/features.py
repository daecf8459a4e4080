"""The feature gates that plugins and the reading of a configuration ask for, and how the release behaves.

kube: plugins/feature/feature.go @ v1.34.1
"""

from scheduler_core.base.gates import FeatureGates
from scheduler_core.base.releases import OLDEST, Behavior, behaviors_of


class Features(FeatureGates, frozen=True):
    """Read when a scheduler starts."""

    behaviors: frozenset[Behavior] = behaviors_of(OLDEST)  # of the release


DEFAULT_FEATURES = Features()
