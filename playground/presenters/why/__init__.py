"""Why a pod is pending: one plain sentence, its evidence, and the events that help."""

from playground.presenters.why.facts import describe_fact
from playground.presenters.why.panel import WhyPanel, present
from playground.presenters.why.sentence import sentence

__all__ = ["WhyPanel", "describe_fact", "present", "sentence"]
