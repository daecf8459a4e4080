"""Consumable capacity: what a request takes of a device that several claims share.

kube: dynamic-resource-allocation/structured/internal/experimental/consumable_capacity.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.apimachinery.dra.allocated import Consumed
from scheduler_core.apimachinery.dra.amounts import Amount, whole
from scheduler_core.apimachinery.dra.claims import Ask
from scheduler_core.apimachinery.dra.slices import Capacity, RequestPolicy, ValidRange

_NONE: Consumed = {}


def fits(ask: Ask, capacity: Mapping[str, Capacity], consumed: Consumed = _NONE, allocating: Consumed = _NONE) -> bool:
    """Return whether the remaining capacities can serve the request, including those that the request does not name."""
    if any(name not in capacity for name in ask.asked):
        return False
    for name, each in capacity.items():
        wanted = consumption(ask.asked.get(name), each)
        if each.policy is not None and violates(wanted, each.policy):
            return False
        if wanted.nanos + consumed.get(name, 0) + allocating.get(name, 0) > each.value.nanos:
            return False
    return True


def consumptions(ask: Ask, capacity: Mapping[str, Capacity]) -> dict[str, Amount]:
    """Return the amounts that a share takes of each of the device's capacities."""
    return {name: consumption(ask.asked.get(name), each) for name, each in capacity.items()}


def consumption(asked: Amount | None, capacity: Capacity) -> Amount:
    """Return the consumed amount: `asked`, rounded up as the policy requires; if None, the policy's default or all."""
    policy = capacity.policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    if policy.range is not None and policy.range.min is not None:
        return _round_up_amount(asked, policy.range, policy.range.min)
    if policy.values is not None:
        return next((value for value in policy.values if asked.nanos <= value.nanos), asked)
    return asked


def _round_up_amount(asked: Amount, limits: ValidRange, least: Amount) -> Amount:
    """Round an amount up to the least amount, or to the next step from there."""
    if asked.nanos < least.nanos:
        return least
    if limits.step is None:
        return asked
    step = limits.step.value or 1  # kube divides by zero; no such policy can be stored
    steps, rest = divmod(asked.value - least.value, step)
    return whole(least.value + step * (steps + (rest != 0)))


def violates(amount: Amount, policy: RequestPolicy) -> bool:
    """Return whether the policy forbids consuming the amount. The policy's default is always allowed."""
    if policy.default is not None and amount.same(policy.default):
        return False
    if policy.range is not None:
        return _outside(amount, policy.range)
    if policy.values:
        return all(amount.nanos != value.nanos for value in policy.values)
    return False


def _outside(amount: Amount, limits: ValidRange) -> bool:
    if limits.max is not None and amount.nanos > limits.max.nanos:
        return True
    if limits.step is None:
        return False
    least = 0 if limits.min is None else limits.min.value
    return (amount.value - least) % (limits.step.value or 1) != 0
