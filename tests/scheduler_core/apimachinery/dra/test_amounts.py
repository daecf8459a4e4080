import pytest

from scheduler_core.apimachinery.dra.amounts import Amount, whole


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("1Gi", "1Gi"),
        ("1024Mi", "1Gi"),
        ("8Gi", "8Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1e3", "1e3"),
        ("12e2", "1200"),
        ("1000e3", "1e6"),
        ("+3Gi", "+3Gi"),
        ("0", "0"),
        ("0Gi", "0"),
        (5, "5"),
        ("0.5Ki", "512"),
        ("1536", "1536"),
    ],
)
def test_an_amount_is_written_as_kube_writes_it(written: str, text: str) -> None:
    assert Amount.of(written).text() == text


def test_a_rounded_amount_has_binary_suffixes() -> None:
    assert whole(2 * 1024**3).text() == "2Gi"
    assert whole(1_500_000_000).text() == "1500000000"


@pytest.mark.parametrize(
    ("mine", "other", "same"),
    [
        ("1Gi", "1Gi", True),
        ("1024Mi", "1Gi", False),  # kube keeps the text of the second alone
        ("2048Mi", "2048Mi", True),
        ("1000m", "1", False),
        ("1.5Gi", "1.5Gi", False),  # of arbitrary precision: two pointers
        ("0", "0", True),
    ],
)
def test_equal_by_gos_operator_is_not_equal_by_amount(mine: str, other: str, same: bool) -> None:
    assert Amount.of(mine).same(Amount.of(other)) is same
