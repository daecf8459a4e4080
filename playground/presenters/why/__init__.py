"""Why a pod is pending: one sentence that a colleague would say, what it rests on, and what it waits for."""

from __future__ import annotations

from playground.presenters.why.panel import WhyPanel, present
from playground.presenters.why.sentence import sentence

__all__ = ["WhyPanel", "present", "sentence"]
