"""Writes HOME/config.toml: adds one engine and leaves every line in it as a person wrote it.

Lines are put in where they belong, and the result is read by the parser of the standard library before anybody gets it.
Invariant: it says what the file said before, and the addition, nothing else; where that cannot be had the file is not
touched.
"""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainmaster.core.config import EngineConfig
from trainmaster.core.errors import Conflict, ProblemList
from trainmaster.messages.server import settings
from trainmaster.service.settings import Toml, parse

LOCAL: Final = '[[engines]]\nname = "local"\n'
"""The engine that there is while none is written: it is written before a second one."""
_SERVER: Final = re.compile(r"^[ \t]*\[[ \t]*server[ \t]*\][^\n]*\n", re.MULTILINE)
_IS: Final = r"""[ \t]*=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DATA: Final = (
    re.compile(rf"{_SERVER.pattern}(?:(?![ \t]*\[)[^\n]*\n)*?[ \t]*data{_IS}", re.MULTILINE),
    re.compile(rf"^[ \t]*server\.data{_IS}", re.MULTILINE),
)
"""Where `server.data` may be written already."""


def with_engine(text: str, engine: Toml, data: str = "") -> str:
    """Return `text`, the contents of a config.toml, with one `[[engines]]` more, and with `server.data` unless `data`
    is "".

    Raises InvalidSpec with all problems that the result would have, Conflict where lines cannot simply be put into it.
    """
    text = text if text.endswith("\n") or not text else text + "\n"
    before = _read(text)
    wanted = _extended(before, engine, data)
    problems = ProblemList()
    parse(wanted, problems)
    problems.raise_if_any(settings.config_would_not_be_valid)
    added = section(engine) if "engines" in before else f"{LOCAL}\n{section(engine)}"
    for base in _with_data(text, data):
        made = base + "\n" * bool(base) + added
        if _says(made) == wanted:
            return made
    raise Conflict(settings.config_not_extendable(section(engine, data)))


def section(engine: Toml, data: str = "") -> str:
    """Return what is written for one engine, and for `server.data` unless it is ""."""
    server = f"[server]\ndata = {_value(data)}\n\n" if data else ""
    return server + "[[engines]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in engine.items())


def engine_in(text: str, name: str) -> EngineConfig:
    """Return the engine of that name in what `with_engine` returned."""
    return next(one for one in parse(_read(text), ProblemList()).engines if one.name == name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # JSON and TOML write texts, numbers and booleans alike


def _with_data(text: str, data: str) -> Iterator[str]:
    """Yield the ways in which `server.data` can be written into `text`, the best first. Not all of them are good
    TOML.
    """
    line = f"data = {_value(data)}\n"
    if not data:
        yield text
        return
    for found in filter(None, (pattern.search(text) for pattern in _DATA)):
        yield text[: found.start(1)] + _value(data) + text[found.end(1) :]
    yield _SERVER.sub(lambda found: found[0] + line, text, count=1)
    yield text + "\n" * bool(text) + f"[server]\n{line}"
    yield f"server.{line}{text}"


def _read(text: str) -> Toml:
    problems = ProblemList()
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problems.add("config.toml", settings.not_toml(str(error)))
        problems.raise_if_any(settings.config_not_valid)
        raise


def _says(text: str) -> Toml | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _extended(document: Toml, engine: Toml, data: str) -> Toml:
    """Return what is to be written, as data. A section of the wrong type stays as it is: reading it refuses it."""
    server = document.get("server", {})
    if data and isinstance(server, dict):
        document = {**document, "server": {**server, "data": data}}
    engines = document.get("engines", [{"name": "local"}])
    return {**document, "engines": [*engines, dict(engine)] if isinstance(engines, list) else engines}


def write(path: str, text: str) -> None:
    """Write the whole file, on disk before this returns, with the rights that it has (a new one: 0600). Raises
    OSError.
    """
    path = os.path.realpath(path)
    fd, fresh = tempfile.mkstemp(prefix=".config-", dir=os.path.dirname(path))
    try:
        with open(fd, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            if os.path.exists(path):
                os.fchmod(fd, os.stat(path).st_mode & 0o777)
            file.flush()
            os.fsync(fd)
        os.replace(fresh, path)
    except OSError:
        os.unlink(fresh)
        raise


def read(path: str) -> str:
    """Return the text of the file, "" where there is none. Raises OSError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
