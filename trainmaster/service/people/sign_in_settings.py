"""What `[sign_in]` of config.toml may say, and what its texts mean. Pure."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from trainmaster.access.roles import WORKSPACE_ROLES
from trainmaster.core.config import OidcConfig, SignInConfig
from trainmaster.core.errors import ProblemList
from trainmaster.messages.server import sign_in

_PLACE: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*:\s*(\w+)")
_RANK: Final = {role: at for at, role in enumerate(WORKSPACE_ROLES)}


def check(settings: SignInConfig, problems: ProblemList) -> None:
    """Note every problem of `[sign_in]`."""
    oidc, at = settings.oidc, "sign_in.oidc"
    if not settings.password and not oidc.issuer:
        problems.add("sign_in.password", sign_in.no_way_in(), value=False)
    if oidc == OidcConfig():
        return
    if not usable(oidc.issuer, issuer=True):
        problems.add(f"{at}.issuer", sign_in.not_an_issuer(), value=oidc.issuer)
    if not oidc.client_id:
        problems.add(f"{at}.client_id", sign_in.provider_setting_missing())
    if oidc.client_secret_file and oidc.client_secret_env:
        problems.add(f"{at}.client_secret_env", sign_in.two_secrets(), value=oidc.client_secret_env)
    if "openid" not in oidc.scopes:
        problems.add(f"{at}.scopes", sign_in.no_openid_scope(), value=list(oidc.scopes))
    for claim in ("name_claim", "groups_claim"):
        if not getattr(oidc, claim):
            problems.add(f"{at}.{claim}", sign_in.provider_setting_missing(), value="")
    texts = {**{f"groups.{group}": text for group, text in oidc.groups.items()}, "everybody": oidc.everybody or None}
    for key, text in texts.items():
        if text is not None and places(text) is None:
            problems.add(f"{at}.{key}", sign_in.not_places(list(WORKSPACE_ROLES)), value=text)


def usable(address: str, issuer: bool = False) -> bool:
    """Return whether secrets may be sent to this address: by https, or to this computer itself. An issuer has neither
    query nor fragment (OpenID Connect Discovery 1.0, section 3).
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or (issuer and ("?" in address or "#" in address)):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def places(text: str) -> dict[str, str] | None:
    """Return the roles by workspace that a text such as "vision:member, speech:viewer" names, None where it is not of
    that form. A workspace that is named twice has the higher role.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        place = _PLACE.fullmatch(part.strip())
        if place is None or place[2] not in WORKSPACE_ROLES:
            return None
        found[place[1]] = higher(found.get(place[1]), place[2])
    return found


def higher(one: str | None, other: str) -> str:
    """Return the higher of two roles in a workspace."""
    return other if one is None or _RANK[other] < _RANK[one] else one


def given_by(settings: OidcConfig, groups: frozenset[str]) -> Mapping[str, str]:
    """Return the roles by workspace that these groups give."""
    found: dict[str, str] = {}
    texts = [text for group, text in settings.groups.items() if group in groups]
    for text in [*texts, *([settings.everybody] if settings.everybody else [])]:
        for workspace, role in (places(text) or {}).items():
            found[workspace] = higher(found.get(workspace), role)
    return found
