"""TLS as kube-scheduler does it with an extender's `enableHTTPS` and `tlsConfig`.

kube: pkg/scheduler/extender.go (makeTransport), client-go/transport/transport.go (TLSConfigFor) @ v1.34.1
"""

from __future__ import annotations

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from typing import Any

_FILES = ("certFile", "keyFile", "caFile")


class BadTLS(ValueError):
    """A tlsConfig that can't be used; the text says why."""


def context_of(config: Mapping[str, Any], enabled: bool) -> tuple[ssl.SSLContext, str]:
    """The context, and the name that the certificate has to be for ("": the host's). BadTLS.

    As in kube `enableHTTPS` without a CA trusts any certificate.
    """
    for name in _FILES:
        if config.get(name):
            raise BadTLS(
                f"tlsConfig.{name} is a file, and this server reads none for a session: use {name[:-4]}Data"
            )
    authority = _pem(config, "caData")
    insecure = bool(config.get("insecure")) or (enabled and not authority)
    if authority and config.get("insecure"):
        raise BadTLS("specifying a root certificates file with the insecure flag is not allowed")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _use_authority(context, authority)
    else:
        context.load_default_certs()
    _use_certificate(context, _pem(config, "certData"), _pem(config, "keyData"))
    return context, str(config.get("serverName") or "")


def _pem(config: Mapping[str, Any], field: str) -> str:
    """Go writes bytes as base64."""
    text = config.get(field) or ""
    try:
        return base64.b64decode(str(text), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise BadTLS(f"tlsConfig.{field} is not PEM in base64") from error


def _use_authority(context: ssl.SSLContext, authority: str) -> None:
    try:
        context.load_verify_locations(cadata=authority)
    except ssl.SSLError as error:
        raise BadTLS("unable to load root certificates: unable to parse bytes as PEM block") from error


def _use_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    if not certificate and not key:
        return
    if not certificate or not key:
        raise BadTLS("tlsConfig.certData and keyData go together")
    # The only way that ssl takes a certificate is from a file; it is gone at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            context.load_cert_chain(file.name)
        except (ssl.SSLError, OSError) as error:
            raise BadTLS("tls: failed to find any PEM data in certificate or key input") from error
