"""What an environment is made of, as people give it: checked before anything is started. Pure.

Invariant: what passes holds no user name and no password, and names nothing on the server's disk.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.agent.containers.references import reference_of
from trainmaster.core.errors import Problem, problem_of
from trainmaster.messages.assets import containers
from trainmaster.messages.assets import images as said
from trainmaster.messages.jobs import submitting

REQUIREMENTS, PROJECT, LOCK = "requirements.txt", "pyproject.toml", "uv.lock"
REFERENCE: Final = "container"
"""Stands among the files of what is no environment of Python but a container image: its reference."""
MOST_BYTES: Final[dict[str, int]] = {REQUIREMENTS: 256 << 10, PROJECT: 256 << 10, LOCK: 2 << 20}
"""Bytes of each file."""
CARDS: Final = ("cpu", "cuda", "rocm", "ascend", "cambricon")
"""Kinds of cards that an environment may suit."""
KEY_RULES: Final = 1
"""Counts up when environments of the same key would be made in another way."""
VERSION: Final = re.compile(r"3\.(?:[89]|[1-9][0-9])")
UPLOAD: Final = re.compile(r"sha256:[0-9a-f]{64}")
_CREDENTIALS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s\"'@]*@")
_GIT_USER: Final = re.compile(r"\b(?:git\+)?ssh://git@")
_HIDDEN: Final = re.compile(r"(?<=://)[^/\s\"'@]+@")
_OPTION: Final = re.compile(r"(-e|--editable|-r|--requirement|-c|--constraint|-f|--find-links)(?:[=\s]+(.*))?$")
_INDEXES: Final = ("-i ", "-f ", "--index-url", "--extra-index-url", "--find-links", "--no-index")
_LOCAL: Final = re.compile(r"(?:^|[\s=@])(?:file:|~?\.{0,2}/)|\.(?:whl|zip|tar\.gz)\s*$|^\.{1,2}$", re.IGNORECASE)
_OTHER_GIT: Final = re.compile(r"\bgit\+(?!https?://|ssh://)|\bgit\s*=\s*[\"'](?!https?://|ssh://)", re.IGNORECASE)
"""A git source that reads files (``file://``) or runs a program (``ext::``) where it is fetched."""
_PINNED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;\\]+)|@\s*([^\s;\\]+))")


@dataclass(frozen=True, slots=True)
class Definition:
    """Texts by file name, and which Python. `python` "": the server's. `secret`: of `workspace`, for the registry of a
    container image. `base`: an image of `workspace`, NAME or NAME@VERSION, in place of files; `code`: what an upload is
    called, which jobs with the image run unless they bring their own.
    """

    files: dict[str, str]
    python: str = ""
    secret: str = ""
    workspace: str = ""
    base: str = ""
    code: str = ""

    @property
    def container(self) -> str:
        """The reference of a container image, "" for an environment of Python."""
        return self.files.get(REFERENCE, "")


@dataclass(frozen=True, slots=True)
class EnvironmentPlan:
    """An environment that was resolved: all that is needed to make it, again and again. `key` is its folder's name,
    `lock` the packages with their digests, `python` its Python as 3.11. Of a container image `lock` is its reference
    with the digest, and `secret` of `workspace` what its registry is given.
    """

    key: str
    python: str
    lock: str
    workspace: str = ""
    secret: str = ""


def problems_of(definition: Definition) -> list[Problem]:
    """Return all that is wrong with a definition, at the fields of a request. O(size)."""
    files, found = definition.files, []
    if definition.code and not UPLOAD.fullmatch(definition.code):
        found.append(problem_of("code", submitting.no_upload(), definition.code[:200]))
    if definition.base:
        return found + _of_base(definition)
    if REFERENCE in files:
        return found + _of_container(definition)
    if definition.secret:
        found.append(problem_of("secret", containers.secret_without_container()))
    if (REQUIREMENTS in files) == (PROJECT in files) or (LOCK in files and PROJECT not in files):
        found.append(problem_of("requirements", said.requirements_or_project()))
    if definition.python and not VERSION.fullmatch(definition.python):
        found.append(problem_of("python", said.not_a_python_version(definition.python[:40])))
    for name, text in files.items():
        where = FIELDS[name]
        if len(text.encode(errors="replace")) > MOST_BYTES[name]:
            found.append(problem_of(where, said.definition_too_long(MOST_BYTES[name] >> 10)))
            continue
        found += [problem_of(where, said.credentials_in_definition(line)) for line in _with_credentials(text)]
        found += [*_of_requirements(text)] if name == REQUIREMENTS else [*_of_toml(where, text)]
    return found


FIELDS: Final[dict[str, str]] = {REQUIREMENTS: "requirements", PROJECT: "pyproject", LOCK: "uv_lock"}
"""The field of a request for each file."""


def _of_container(definition: Definition) -> list[Problem]:
    found = []
    if len(definition.files) > 1 or definition.python:
        found.append(problem_of("container", containers.container_alone()))
    if reference_of(definition.container) is None:
        found.append(problem_of("container", containers.not_a_reference(), masked(definition.container)[:200]))
    return found


def _of_base(definition: Definition) -> list[Problem]:
    found = []
    if definition.files or definition.python or definition.secret:
        found.append(problem_of("base", said.base_alone()))
    if not definition.code:
        found.append(problem_of("code", said.base_without_code()))
    return found


def _with_credentials(text: str) -> Iterator[int]:
    for number, line in enumerate(text.splitlines(), 1):
        if _CREDENTIALS.search(_GIT_USER.sub("", line)):
            yield number


def _of_requirements(text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split(" #")[0].strip()
        if not words or words.startswith("#"):
            continue
        option = _OPTION.match(words)
        address = (option[2] or "").strip() if option else ""
        remote = (
            address.startswith(("https://", "http://")) and option is not None and option[1] in ("-f", "--find-links")
        )
        local = _LOCAL.search(words) if option is None and "://" not in words else "file:" in words.lower()
        if (option is not None and not remote) or local or _OTHER_GIT.search(words):
            yield problem_of("requirements", said.file_in_definition(number, masked(words)[:200]))


def _of_toml(where: str, text: str) -> Iterator[Problem]:
    for number, line in enumerate(text.splitlines(), 1):
        if _OTHER_GIT.search(line):
            yield problem_of(where, said.file_in_definition(number, masked(line.strip())[:200]))
    try:
        read: dict[str, object] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        yield problem_of(where, said.definition_not_toml(str(error)[:200]))
        return
    if where == "pyproject" and not isinstance(read.get("project"), dict):
        yield problem_of(where, said.definition_not_toml("[project]"))


def own_indexes(definition: Definition) -> str:
    """Return the lines of requirements that say where packages come from: a lock holds none."""
    lines = (line.split(" #")[0].strip() for line in definition.files.get(REQUIREMENTS, "").splitlines())
    return "".join(line + "\n" for line in lines if line.startswith(_INDEXES))


def masked(text: str) -> str:
    """Return `text` without user names and passwords in addresses."""
    return _HIDDEN.sub("***@", text)


def key_of(lock: str, python: str, platform: str, uv: str) -> str:
    """Return the name of an environment: the same for the same packages on the same Python and platform, by a `uv` of
    the same line.
    """
    lines = [line.strip() for line in lock.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    parts = [KEY_RULES, lines, python, platform, ".".join(uv.split(".")[:2])]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def packages_in(lock: str) -> list[tuple[str, str]]:
    """Return (name, version or address) of each package of a lock, in its order."""
    found = (_PINNED.match(line.strip()) for line in lock.splitlines() if not line.startswith((" ", "#", "\t")))
    return [(one[1], one[2] or masked(one[3] or "")) for one in found if one]
