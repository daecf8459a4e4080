import math

import numpy as np
import pytest

from scheduler_core.scheduler.plugins.helper.normalize import log, round_half_up


@pytest.mark.parametrize("x", [1.0, 2.0, 3.0, 10.0, 502.0, 5002.0, 1e-300, 1e300])
def test_the_logarithm_is_right_to_the_last_bits(x: float) -> None:
    assert abs(log(x) - math.log(x)) <= math.ulp(math.log(x) or 1.0)


def test_the_logarithm_has_the_same_bits_on_every_machine() -> None:
    assert [log(2.0).hex(), log(10.0).hex()] == ["0x1.62e42fefa39efp-1", "0x1.26bb1bbb55516p+1"]


def test_halves_go_up() -> None:
    found = round_half_up(np.array([0.0, 0.49999999999999994, 0.5, 1.5, 2.4999, 2.5]))
    assert found.tolist() == [0, 0, 1, 2, 2, 3]
