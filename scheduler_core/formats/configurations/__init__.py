"""Configurations as people have them, turned into what kube-scheduler reads today: of older versions, and with plugins not here."""

from scheduler_core.formats.configurations.adoption import Adoption, adopt
from scheduler_core.formats.configurations.effective import VERSIONS, Migration
from scheduler_core.formats.configurations.finding import FoundConfiguration, find, find_in, is_configuration
from scheduler_core.formats.configurations.migrating import migrate, older_version
from scheduler_core.formats.configurations.policy import migrate_policy
from scheduler_core.formats.configurations.unknown_plugins import unknown_plugins
from scheduler_core.formats.configurations.writing import rewrite_text

__all__ = [
    "VERSIONS",
    "Adoption",
    "FoundConfiguration",
    "Migration",
    "adopt",
    "find",
    "find_in",
    "is_configuration",
    "migrate",
]
__all__ += ["migrate_policy", "older_version", "rewrite_text", "unknown_plugins"]
