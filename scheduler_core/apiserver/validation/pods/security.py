"""Validation of security contexts: users, seccomp and AppArmor profiles, sysctls, and Windows options.

kube: pkg/apis/core/validation/validation.go (validatePodSpecSecurityContext, ValidateSecurityContext) @ v1.34.1
"""

import re

from scheduler_core.apimachinery.objects.errors import Errors, FieldError, invalid
from scheduler_core.apimachinery.objects.names import subdomain_errors
from scheduler_core.apiserver.validation.devices.slices import as_go_writes
from scheduler_core.apiserver.validation.rules import MAX_INT32, Object, inner, not_below, one, text, within

PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PROFILE = 4095
_LONGEST_SYSCTL = 253
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_is_sysctl = re.compile(_SYSCTL + r"\Z").match
_OF_NAMESPACES = {
    "hostNetwork": re.compile(r"net\."),
    "hostIPC": re.compile(r"(kernel\.(sem|shm(all|max|mni|_rmid_forced)?|msg(max|mnb|mni)?)\Z|fs\.mqueue\.)"),
}
_UNSAFE = "cannot set `allowPrivilegeEscalation` to false and `%s"
_GROUPS = within("fsGroup", 0, MAX_INT32)
_USERS = (within("runAsUser", 0, MAX_INT32), within("runAsGroup", 0, MAX_INT32))


def security_context(context: Object, host_users: bool, path: str, errors: Errors) -> None:
    """Validate a container's security context; `host_users`: whether its pod shares the users of the host."""
    for rule in _USERS:
        rule(context, path, errors)
    one("procMount", "Default", "Unmasked", empty=True)(context, path, errors)
    if host_users and context.get("procMount") == "Unmasked":
        errors.invalid(f"{path}.procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`")
    inner("seccompProfile", _seccomp)(context, path, errors)
    if context.get("allowPrivilegeEscalation") is False:
        added = (context.get("capabilities") or {}).get("add") or ()
        wrong = ["privileged` to true"] if context.get("privileged") else []
        wrong += ["capabilities.Add` CAP_SYS_ADMIN" for name in added if name == "CAP_SYS_ADMIN"]
        written = as_go_writes(context, "SecurityContext") if wrong else ""
        errors += [FieldError(path, written, _UNSAFE % each, kind="Invalid value") for each in wrong]
    inner("windowsOptions", _windows)(context, path, errors)
    inner("appArmorProfile", _app_armor)(context, path, errors)


def pod_security_context(spec: Object, path: str, errors: Errors) -> None:
    """Validate a pod's security context; `path` is the path of the pod's spec."""
    context, where = spec.get("securityContext") or {}, f"{path}.securityContext"
    for rule in (_GROUPS, *_USERS):
        rule(context, where, errors)
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        if not 0 <= group <= MAX_INT32:
            errors.invalid(f"{where}.supplementalGroups[{i}]", group, f"must be between 0 and {MAX_INT32}, inclusive")
    if spec.get("hostPID") and spec.get("shareProcessNamespace"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.invalid(f"{where}.shareProcessNamespace", True, detail)
    _sysctls(context, spec, f"{where}.sysctls", errors)
    one("fsGroupChangePolicy", "Always", "OnRootMismatch", empty=True)(context, where, errors)
    inner("seccompProfile", _seccomp)(context, where, errors)
    inner("windowsOptions", _windows)(context, where, errors)
    inner("appArmorProfile", _app_armor)(context, where, errors)
    one("supplementalGroupsPolicy", "Merge", "Strict", empty=True)(context, where, errors)
    one("seLinuxChangePolicy", "Recursive", empty=True)(context, where, errors)


def _sysctls(context: Object, spec: Object, path: str, errors: Errors) -> None:
    names: dict[str, None] = {}
    for i, sysctl in enumerate(context.get("sysctls") or ()):
        name, where = sysctl.get("name") or "", f"{path}[{i}].name"
        if not name:
            errors.required(where)
        elif len(name.encode()) > _LONGEST_SYSCTL or not _is_sysctl(name):
            errors.invalid(where, name, f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$")
        elif name in names:
            errors.duplicate(where, name)
        for shared, names_of in _OF_NAMESPACES.items():
            if spec.get(shared) and names_of.match(_normalize_sysctl(name)):
                errors.invalid(where, name, f"may not be specified when '{shared}' is true")
        names[name] = None


def _normalize_sysctl(name: str) -> str:
    """Return a sysctl with dots between its parts, even if the first separator is a slash."""
    first = next((letter for letter in name if letter in "./"), ".")
    return name if first == "." else name.translate(str.maketrans("./", "/."))


def _type(profile: Object, path: str, what: str, errors: Errors) -> None:
    given = profile.get("type") or ""
    if not errors.required(f"{path}.type", f"type is required when {what} is set", when=not given):
        errors.not_supported(f"{path}.type", given, PROFILES, when=given not in PROFILES)


def _seccomp(profile: Object, path: str, errors: Errors) -> None:
    _type(profile, path, "seccompProfile", errors)
    where, local = f"{path}.localhostProfile", profile.get("localhostProfile")
    if profile.get("type") != "Localhost":
        if local is not None:
            written = as_go_writes(profile, "SeccompProfile")
            errors.invalid_text(where, written, "can only be set when seccomp type is Localhost")
    elif local is None:
        errors.required(where, "must be set when seccomp type is Localhost")
    else:
        text("localhostProfile", not_below)(profile, path, errors)


def _app_armor(profile: Object, path: str, errors: Errors) -> None:
    where, local, given = f"{path}.localhostProfile", profile.get("localhostProfile"), profile.get("type")
    if given != "Localhost":
        if local is not None and given in PROFILES:
            errors.invalid(where, local, "can only be set when AppArmor type is Localhost")
        _type(profile, path, "appArmorProfile", errors)
    elif local is None or local == "":
        errors.required(where, "must be set when AppArmor type is Localhost")
    else:
        errors.invalid(where, local, "must not be padded with whitespace", when=local.strip() != local)
        errors.too_long(where, _LONGEST_PROFILE, when=len(local.encode()) > _LONGEST_PROFILE)


# Windows

_SPEC_KIB = 64
_LONGEST_DOMAIN, _LONGEST_USER = 256, 104
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_is_domain = re.compile(rf"""(?:[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_DNS_LABEL}(?:\.{_DNS_LABEL})*)\Z""").match
_has_control = re.compile(r"[\x00-\x1f\x7f]").search
_has_bad = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search
_is_blank = re.compile(r"[. ]+\Z").match


def _windows(options: Object, path: str, errors: Errors) -> None:
    text("gmsaCredentialSpecName", subdomain_errors)(options, path, errors)
    spec, user = options.get("gmsaCredentialSpec"), options.get("runAsUserName")
    where = f"{path}.gmsaCredentialSpec"
    if spec == "":
        errors.invalid(where, "", "gmsaCredentialSpec cannot be an empty string")
    elif spec is not None and len(spec.encode()) > _SPEC_KIB * 1024:
        errors.invalid(where, spec, f"gmsaCredentialSpec size must be under {_SPEC_KIB} KiB")
    if user is not None:
        errors += [invalid(f"{path}.runAsUserName", user, f"runAsUserName{each}") for each in _user(user)]


def _user(name: str) -> list[str]:
    """Return the errors in a user name, worded to follow "runAsUserName"."""
    if not name:
        return [" cannot be an empty string"]
    if _has_control(name):
        return [" cannot contain control characters"]
    if name.count("\\") > 1:
        return [" cannot contain more than one backslash"]
    domain, slash, user = name.rpartition("\\")
    wrong = {
        f"'s Domain length must be under {_LONGEST_DOMAIN} characters": len(domain.encode()) >= _LONGEST_DOMAIN,
        "'s Domain doesn't match the NetBios nor the DNS format": slash and not _is_domain(domain),
        "'s User cannot be empty": not user,
        f"'s User length must not be longer than {_LONGEST_USER} characters": len(user.encode()) > _LONGEST_USER,
        "'s User cannot contain only periods or spaces": _is_blank(user),
        """'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]""": _has_bad(user),
    }
    return [said for said, found in wrong.items() if found]
