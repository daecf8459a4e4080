"""Why a pod is pending: one sentence that a colleague would say, what it rests on, and what it waits for."""

from playground.presenters.why.facts import describe_fact
from playground.presenters.why.panel import WhyPanel, present
from playground.presenters.why.sentence import sentence

__all__ = ["WhyPanel", "describe_fact", "present", "sentence"]
