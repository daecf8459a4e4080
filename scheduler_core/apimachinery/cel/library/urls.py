"""URLs: kubernetes.URL, parsed as Go's net/url does.

kube: apiserver/pkg/cel/library/urls.go @ v1.34.1
"""

import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel.library.networks import BadAddress, parse_address
from scheduler_core.apimachinery.cel.texts import quote_go
from scheduler_core.apimachinery.cel.values import Failure, UrlValue

_CONTROL = re.compile("[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT = re.compile(r"(?::[0-9]*)?\Z")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*\Z")
_HEX = re.compile(r"%[0-9a-fA-F]{2}")
# What may stand unescaped, besides letters and digits.
_IN_PATH = frozenset(b"$&+,-./:;=@_~")
_IN_RAW_PATH = frozenset(b"$&+,-./:;=@_~!'()*[]%")
_IN_HOST = frozenset(b"-._~!$&'()*+,;=:[]<>\"")


class BadUrl(ValueError):
    """A text that is no URL, in Go's words."""


def parse_url(text: str, of_request: bool = True) -> UrlValue:
    """Parse a URL. Raise BadUrl in Go's words. `of_request`: accept only an absolute URL or path without a fragment."""
    rest, fragment = text, ""
    if not of_request:
        rest, _, fragment = text.partition("#")
    try:
        url = _parse(rest, of_request)
        _unescape_text(fragment)
    except BadUrl as error:
        raise BadUrl(f"parse {quote_go(text if not fragment else rest)}: {error}") from None
    return url


def _parse(text: str, of_request: bool) -> UrlValue:
    if _CONTROL.search(text):
        raise BadUrl("net/url: invalid control character in URL")
    if not text and of_request:
        raise BadUrl("empty url")
    if text == "*":
        return UrlValue(text, "", "", "", "", "*", ())
    if text.startswith(":"):
        raise BadUrl("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme, rest = ("", text) if match is None else (match[1].lower(), text[match.end() :])
    text = scheme + text[len(scheme) :]
    rest, query = _query(rest)
    if not rest.startswith("/"):
        if scheme:
            return UrlValue(text, scheme, "", "", "", "", _parameters(query))
        if of_request:
            raise BadUrl("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise BadUrl("first path segment in URL cannot contain colon")
    host = ""
    has_host = scheme or (not of_request and not rest.startswith("///"))
    if has_host and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = _authority(scheme, authority)
    hostname, port = _split_host(host)
    return UrlValue(text, scheme, host, hostname, port, _escape_path(rest), _parameters(query))


def _query(rest: str) -> tuple[str, str]:
    if rest.endswith("?") and rest.count("?") == 1:
        return rest[:-1], ""
    before, _, query = rest.partition("?")
    return before, query


def _authority(scheme: str, authority: str) -> str:
    user, at, host = authority.rpartition("@")
    found = _host(scheme, host)
    if at:
        if not _USER.match(user):
            raise BadUrl("net/url: invalid userinfo")
        for part in user.split(":", 1):
            _unescape_text(part)
    return found


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise BadUrl("invalid IP-literal")
    if bracket == 0:
        closing = host.rfind("]")
        if closing < 0:
            raise BadUrl("missing ']' in host")
        _check_port(host[closing + 1 :])
        name, percent, zone = host[1:closing].partition("%25")
        inside = _unescape_text(name, in_host=True) + (_unescape_text(percent + zone) if percent else "")
        try:
            address, _ = parse_address(inside)
        except BadAddress as error:
            raise BadUrl(f"invalid host: {error}") from None
        if address.version == 4:
            raise BadUrl("invalid IP-literal")
        return f"[{inside}]{host[closing + 1 :]}"
    colon = host.find(":")
    if colon >= 0:
        if scheme not in ("http", "https"):
            colon = host.rfind(":")
        _check_port(host[colon:])
    return _unescape_text(host, in_host=True)


def _check_port(port: str) -> None:
    if not _PORT.match(port):
        raise BadUrl(f"invalid port {quote_go(port)} after host")


def _split_host(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    if not colon or not _PORT.match(f":{port}"):
        name, port = host, ""
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, port


def _unescape_text(text: str, in_host: bool = False) -> str:
    return _bytes_of(text, in_host).decode(errors="replace")


def _bytes_of(text: str, in_host: bool = False) -> bytes:
    """Return the bytes of a text with %XX escapes decoded. Raise BadUrl if an escape is malformed."""
    parts, at = bytearray(), 0
    raw = text.encode()
    while at < len(raw):
        byte = raw[at]
        if byte == ord("%"):
            escape = raw[at : at + 3].decode(errors="replace")
            if not _HEX.match(escape) or (in_host and int(escape[1], 16) < 8 and escape != "%25"):
                raise BadUrl(f"invalid URL escape {quote_go(escape)}")
            parts.append(int(escape[1:], 16))
            at += 3
            continue
        if in_host and byte < 0x80 and not _plain(byte, _IN_HOST):
            raise BadUrl(f"invalid character {quote_go(chr(byte))} in host name")
        parts.append(byte)
        at += 1
    return bytes(parts)


def _plain(byte: int, allowed: frozenset[int]) -> bool:
    return (chr(byte).isalnum() and byte < 0x80) or byte in allowed


def _escape_path(path: str) -> str:
    """Return the path as written, unless part of it must be escaped."""
    decoded = _bytes_of(path)
    if all(_plain(byte, _IN_RAW_PATH) for byte in path.encode()):
        return path
    return "".join(chr(byte) if _plain(byte, _IN_PATH) else f"%{byte:02X}" for byte in decoded)


def _parameters(query: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the well-formed query parameters, by name."""
    found: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        try:
            key, held = _unescape_text(name.replace("+", " ")), _unescape_text(value.replace("+", " "))
        except BadUrl:
            continue
        found.setdefault(key, []).append(held)
    return tuple((name, tuple(values)) for name, values in found.items())


def _url(text: str) -> object:
    try:
        parse_url(text)
        return parse_url(text, of_request=False)
    except BadUrl as error:
        return Failure(f"URL parse error during conversion from string: {error}")


def is_url(text: str) -> bool:
    try:
        parse_url(text)
    except BadUrl:
        return False
    return True


URLS: dict[str, Callable[..., object]] = {
    "string_to_url": _url,
    "is_url_string": is_url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": lambda url: url.hostname,
    "url_get_port": lambda url: url.port,
    "url_get_escaped_path": lambda url: url.escaped_path,
    "url_get_query": lambda url: {name: list(values) for name, values in url.query},
}
