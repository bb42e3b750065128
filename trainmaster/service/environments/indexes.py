"""Where packages come from, as the administrator of this machine has configured it for pip or uv: variables for uv, and
what of the disk they name. Reads files, changes nothing.

uv's own settings win; pip's fill what they leave open. What they hold of user names and passwords reaches the program
that asks the index, and nobody else.
"""

import configparser
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

PIP_FILES: Final = ("/etc/xdg/pip/pip.conf", "/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")
"""Files of pip's settings; a later one wins."""
UV_FILE: Final = "/etc/uv/uv.toml"
_AS: Final[dict[str, tuple[str, ...]]] = {
    "index-url": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "extra-index-url": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
    "cert": ("SSL_CERT_FILE",),
    "constraint": ("UV_CONSTRAINT",),
    "no-binary": ("UV_NO_BINARY_PACKAGE",),
    "timeout": ("UV_HTTP_TIMEOUT",),
}
"""pip's settings and the variables of uv that say the same, the one that is set first."""
_PASSED: Final = (
    "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS",
    "UV_INSECURE_HOST", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_INDEX_STRATEGY", "UV_HTTP_TIMEOUT", "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS", "UV_TORCH_BACKEND", "UV_NO_BINARY_PACKAGE", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
)  # fmt: skip
"""Variables of the server that uv is given as they are; those of one index (UV_INDEX_NAME_USERNAME...) too."""
_LISTS: Final = {"UV_INDEX", "UV_FIND_LINKS", "UV_INSECURE_HOST", "UV_CONSTRAINT", "UV_EXTRA_INDEX_URL"}


@dataclass(frozen=True, slots=True)
class Indexes:
    """Variables for uv, files and folders of this machine that they name, and whether there is an index at all: uv has
    no variable for that.
    """

    env: dict[str, str]
    shown: tuple[str, ...]
    none: bool = False


def indexes(env: Mapping[str, str], files: Iterable[str] = PIP_FILES) -> Indexes:
    """Return what is configured. `env`: the server's variables; `files`: those of pip's settings that may be there."""
    found = {name: env[name] for name in env if name in _PASSED or _of_one_index(name)}
    pip = _of_pip(env, files)
    for setting, value in pip.items():
        names = _AS.get(setting, ())
        if names and not any(name in found for name in names):
            words = value.split()
            found[names[0]] = ("," if names[0] == "UV_FIND_LINKS" else " ").join(words)
    return Indexes(found, tuple(dict.fromkeys(_local(found))), "no-index" in pip)


def _of_one_index(name: str) -> bool:
    return name.startswith("UV_INDEX_") and name.endswith(("_USERNAME", "_PASSWORD"))


def _of_pip(env: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    given = env.get("PIP_CONFIG_FILE", "")
    for path in [] if given == os.devnull else [*files, *([given] if given else [])]:
        parser = configparser.RawConfigParser()
        try:
            parser.read(os.path.expanduser(path), encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip would refuse it, too
        for section in ("global", "install"):
            if parser.has_section(section):
                found.update({key.replace("_", "-"): value for key, value in parser.items(section) if value})
    said = {name[4:].lower().replace("_", "-"): value for name, value in env.items() if name.startswith("PIP_")}
    found |= {key: value for key, value in said.items() if value}
    if found.get("no-index", "").lower() in ("0", "no", "false", "off", ""):
        found.pop("no-index", None)
    if "cert" in found and not os.path.exists(found["cert"]):
        del found["cert"]
    return found


def _local(env: Mapping[str, str]) -> Iterable[str]:
    """Yield what of this machine the variables name; of an index of files the folder around it, where its pages lead
    to.
    """
    for name, value in env.items():
        words = value.replace(",", " ").split() if name in _LISTS else [value]
        for word in words:
            address = word.rpartition("=")[2] if name == "UV_INDEX" and "://" in word else word
            path = unquote(urlsplit(address).path) if address.startswith("file:") else address
            if not os.path.isabs(path) or not os.path.exists(path) or path == "/":
                continue
            within = os.path.basename(path.rstrip("/")) == "simple" and address.startswith("file:")
            around = os.path.dirname(path.rstrip("/"))
            yield around if within and around != "/" else path
