"""Reads HOME/config.toml into core.config. Refuses unknown keys and wrong types, all at once, naming the remedy."""

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from trainmaster.core.config import (
    Config,
    EngineConfig,
    LimitsConfig,
    LocalConfig,
    MailConfig,
    MoneyConfig,
    OidcConfig,
    RetentionConfig,
    ServerConfig,
    SignInConfig,
    StorageConfig,
    VirtualNode,
    WebhooksConfig,
)
from trainmaster.core.errors import InvalidSpec, ProblemList
from trainmaster.engines import kinds
from trainmaster.engines.kinds import EngineKind
from trainmaster.messages.assets import objects
from trainmaster.messages.said import Said
from trainmaster.messages.server import money, notices
from trainmaster.messages.server import settings as saying
from trainmaster.service.people import sign_in_settings as sign_in

EVERY_ADDRESS: Final = ("0.0.0.0", "::", "")
"""Hosts to listen on that are no address by which anybody could be reached."""
WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""How engines and pools may be called: as everything that people name."""
HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*")
CURRENCY: Final = re.compile(r"[A-Za-z]{1,8}")
MAILBOX: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,187}[A-Za-z0-9])?")
"""An e-mail address as we take them: of plain letters."""
Toml = dict[str, Any]
"""A section of config.toml, or the whole of it, as it was read."""

_SECTIONS: dict[str, type[Any]] = {
    "server": ServerConfig,
    "local": LocalConfig,
    "limits": LimitsConfig,
    "retention": RetentionConfig,
    "money": MoneyConfig,
    "mail": MailConfig,
    "webhooks": WebhooksConfig,
    "storage": StorageConfig,
    "sign_in": SignInConfig,
}


def load(path: str) -> Config:
    """Return the configuration in the TOML file at `path`; a missing file means all defaults.

    Raises InvalidSpec listing every unknown key, wrong type and value out of range.
    """
    if not os.path.exists(path):
        return Config()
    problems = ProblemList()
    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        problems.add(os.path.basename(path), saying.not_toml(str(error)))
        document = {}
    config = parse(document, problems)
    problems.raise_if_any(saying.config_not_valid)
    return config


def parse(document: Toml, problems: ProblemList) -> Config:
    """Return the Config in `document`, noting every problem in `problems`."""
    known = {*_SECTIONS, "engines"}
    for name in document.keys() - known:
        problems.add(name, saying.unknown_section(sorted(known)))
    parts = {name: _section(name, kind, document.get(name, {}), problems) for name, kind in _SECTIONS.items()}
    data = parts["server"].data
    if data and not os.path.isabs(data):
        problems.add("server.data", saying.must_be_absolute_path(), value=data)
    cache = parts["local"].cache_folder
    if cache and not os.path.isabs(cache):
        problems.add("local.cache_folder", saying.must_be_absolute_path(), value=cache)
    if parts["server"].address and reached_at(parts["server"].address) is None:
        problems.add("server.address", saying.not_a_host(parts["server"].address))
    for proxy in parts["server"].trusted_proxies:
        if not _is_network(proxy):
            problems.add("server.trusted_proxies", saying.must_be_networks(), value=proxy)
    if not CURRENCY.fullmatch(parts["money"].currency):
        problems.add("money.currency", money.not_a_currency(), value=parts["money"].currency)
    if not _is_time_zone(parts["money"].time_zone):
        problems.add("money.time_zone", money.not_a_time_zone(parts["money"].time_zone))
    _check_mail(parts["mail"], problems)
    for network in parts["webhooks"].allow:
        if not _is_network(network):
            problems.add("webhooks.allow", notices.not_networks(), value=network)
    for host in parts["storage"].allow:
        if not _is_network(host) and not HOST.fullmatch(host):
            problems.add("storage.allow", objects.not_hosts(), value=host)
    sign_in.check(parts["sign_in"], problems)
    return Config(**parts, engines=_engines(document.get("engines", [{}]), problems))


def _check_mail(mail: MailConfig, problems: ProblemList) -> None:
    if mail.host and not MAILBOX.fullmatch(mail.sender):
        problems.add("mail.sender", notices.sender_missing(), value=mail.sender)
    if not 1 <= mail.port <= 65535:
        problems.add("mail.port", notices.not_a_port(), value=mail.port)
    if mail.link and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", mail.link):
        problems.add("mail.link", notices.not_a_link(), value=mail.link)
    if bool(mail.user) != bool(mail.password_file):
        problems.add("mail.user", notices.password_without_user(), value=mail.user)


def reached_at(address: str) -> tuple[str, int | None] | None:
    """Return (host, port or None) of what `server.address` says, None where it is not of that form, or no one's."""
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if host is None or parts.netloc != address or "@" in address or host in EVERY_ADDRESS or not address.isascii():
        return None
    return (host, port) if address.isprintable() and " " not in address else None


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):  # no such name, one that leaves the folder, or a folder of names
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _engines(values: Any, problems: ProblemList) -> tuple[EngineConfig, ...]:
    """Return the engines, of which no two have a name or a pool in common, and at most one is this machine."""
    if not isinstance(values, list) or not values or not all(isinstance(one, dict) for one in values):
        problems.add("engines", saying.must_be_sections())
        return Config().engines
    read = [_engine(f"engines.{at}", one, problems) for at, one in enumerate(values)]
    found = tuple(engine for engine, _ in read)
    takes: list[tuple[str, list[str]]] = [
        ("name", [one.name for one in found]),
        ("pools", [pool for one in found for pool in one.pools]),
        ("kind", [kind.name for _, kind in read if kind is not None and kind.this_machine]),
    ]
    for key, names in takes:
        for bad in sorted({name for name in names if not WORD.fullmatch(name)}):
            problems.add(f"engines.{key}", saying.engine_word_not_usable(), value=bad)
        for twice in sorted({name for name in names if names.count(name) > 1}):
            problems.add(f"engines.{key}", saying.stands_in_two_engines(twice), value=twice)
    return found


def _engine(path: str, values: Toml, problems: ProblemList) -> tuple[EngineConfig, EngineKind | None]:
    common = {key: values[key] for key in ("name", "kind", "pools", "most_pending") if key in values}
    engine: EngineConfig = _section(path, EngineConfig, common, problems)
    own = {key: value for key, value in values.items() if key not in common}
    try:
        kind = kinds.find(engine.kind)
    except InvalidSpec as error:
        problems.add(f"{path}.kind", error.said, value=engine.kind)
        return engine, None
    named = engine if "name" in values else replace(engine, name=engine.kind)
    settings = _section(path, kind.settings, own, problems)
    for key, said in kind.problems(settings):
        problems.add(f"{path}.{key}", said, value=getattr(settings, key))
    return replace(named, settings=settings), kind


def _section(name: str, kind: type[Any], values: Any, problems: ProblemList) -> Any:
    if not isinstance(values, dict):
        problems.add(name, saying.must_be_section(name))
        return kind()
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    accepted: Toml = {}
    for key, value in values.items():
        path = f"{name}.{key}"
        if key not in known:
            problems.add(path, saying.unknown_setting(sorted(known)), value=value)
            continue
        converted = _convert(path, hints[key], value, problems)
        if converted is not None:
            accepted[key] = converted
    return kind(**accepted)


def _convert(path: str, hint: Any, value: Any, problems: ProblemList) -> Any:
    if hint == tuple[VirtualNode, ...] and isinstance(value, list):
        return tuple(_section(f"{path}.{at}", VirtualNode, item, problems) for at, item in enumerate(value))
    if hint is OidcConfig and isinstance(value, dict):
        return _section(path, OidcConfig, value, problems)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if hint == tuple[str, ...] and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if hint == Mapping[str, str] and isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return value
    if get_origin(hint) is Literal and isinstance(value, str):
        return _chosen(path, get_args(hint), value, problems)
    if not isinstance(hint, type) or not isinstance(value, hint) or isinstance(value, bool) is not (hint is bool):
        problems.add(path, _of_wrong_type(hint), value=value)
        return None
    if isinstance(value, int | float) and value < 0:
        problems.add(path, saying.setting_negative(), value=value)
        return None
    return value


def _chosen(path: str, choices: tuple[str, ...], value: str, problems: ProblemList) -> str | None:
    if value in choices:
        return value
    problems.add(path, saying.setting_not_a_choice(choices, repr(choices[0])), value=value)
    return None


def _of_wrong_type(hint: Any) -> Said:
    if hint == tuple[str, ...]:
        return saying.must_be_texts()
    if hint == Mapping[str, str]:
        return saying.must_be_table_of_texts()
    if hint == tuple[VirtualNode, ...]:
        return saying.must_be_node_sections()
    if hint is OidcConfig:
        return saying.must_be_section("sign_in.oidc")
    if get_origin(hint) is Literal:
        hint = str
    return saying.setting_of_wrong_type(getattr(hint, "__name__", str(hint)))
