"""Long names give way where they are alike."""

from __future__ import annotations

import pytest

from playground.templatetags.studio import apart


@pytest.mark.parametrize(
    ("name", "head", "tail"),
    [
        ("web-9559cc468-f24xk", "web-9559cc468", "-f24xk"),
        ("gke-production-pool-1-0", "gke-production-pool", "-1-0"),
        ("aks-nodepool1-12345678-vmss000001", "aks-nodepool1-12345678-vm", "ss000001"),
        ("nohyphenatallinhere", "nohyphenata", "llinhere"),
        ("endswithahyphen-", "endswith", "ahyphen-"),
    ],
)
def test_a_long_name_is_in_two_parts_that_make_it_up(name: str, head: str, tail: str) -> None:
    assert apart(name) == (
        f'<span class="apart t{len(tail)}" title="{name}"><span>{head}</span><span>{tail}</span></span>'
    )


@pytest.mark.parametrize("name", ["", "node-c1", "kind-worker2", "ip-10-0-1-20.eu-west-1.compute.internal"])
def test_short_names_and_hosts_in_a_domain_stay_as_they_are(name: str) -> None:
    assert apart(name) == name


def test_what_a_name_holds_is_escaped() -> None:
    assert "<b>" not in apart("<b>a-name-of-nothing")
    assert apart("<b>") == "&lt;b&gt;"
