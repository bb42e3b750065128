"""From bytes to a plain document: JSON, or YAML read with the rules of YAML 1.2. Nothing is executed or constructed.

The parser's events are turned into dicts, lists and scalars here, without recursion, so that a small file can neither
exhaust the stack nor unfold into a large one; a key given twice is refused instead of the last one winning. Differences
from YAML 1.1 that matter to jobs: ``yes``, ``on``, ``12:30``, dates and ``007`` are texts, ``1e-3`` is a number.
`apply_set` (``--set path=value``) changes a document, of any dialect, before it is read.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.jobs import form
from trainmaster.messages.said import Said, verbatim
from trainmaster.spec.bounds import oversized_changes
from trainmaster.spec.check import refusal
from trainmaster.spec.problems import problem

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_VALUES: Final = 200_000
MAX_DEPTH: Final = 64

_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,24})")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|(0|[1-9][0-9]*)(?=[eE]))([eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, Any]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    ".inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_KNOWN_TAGS: Final = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "!", None})
_JSON_START: Final = re.compile(r"\s*\{\s*\"")
_CONSTANT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
"""A string, which may say anything, or a number that JSON does not have."""
_COMMENT: Final = re.compile(r"\s*(//|/\*|#)")
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_DOT: Final = re.compile(r"(?<!\\)\.")


def parse_document(text: str | bytes, name: str = "") -> dict[str, Any]:
    """Return the document in `text`; `name` is the file's name, whose end ``.json`` asks for JSON alone.

    Raises InvalidSpec naming the line. O(size).
    """
    if len(text) > MAX_BYTES:
        raise refusal([problem("", form.too_large(MAX_BYTES))])
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise refusal([problem("", form.encoding())]) from None
    document = _json_or_yaml(text, name)
    if not isinstance(document, dict):
        raise refusal([problem("", form.not_object())])
    return document


def scalar(text: str) -> Any:
    """Return what a plain YAML scalar means: null, true, a number, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


# -------------------------------------------------------------------------------------------------------------- JSON


def _json_or_yaml(text: str, name: str) -> Any:
    only_json = name.lower().endswith(".json") or _JSON_START.match(text) is not None
    if not only_json and not text.lstrip().startswith(("{", "[")):
        return _yaml(text)
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except RecursionError:
        raise refusal([problem("", form.too_deep(MAX_DEPTH))]) from None
    except ValueError as error:
        return _not_json(text, error, only_json)


def _not_json(text: str, error: ValueError, only_json: bool) -> Any:
    """A text in braces may still be YAML; when it is neither, the JSON parser's words are the helpful ones."""
    if not only_json:
        try:
            return _yaml(text)
        except InvalidSpec:
            pass
    if isinstance(error, json.JSONDecodeError) and _COMMENT.match(text, error.pos):
        raise refusal([problem("", form.json_comment(error.lineno))]) from None
    line = error.lineno if isinstance(error, json.JSONDecodeError) else _line_of_constant(text)
    detail = (
        form.json_broken_at(error.msg, error.colno) if isinstance(error, json.JSONDecodeError) else _error_said(error)
    )
    raise refusal([problem("", form.syntax(format="JSON", detail=detail, line=line))]) from None


def _line_of_constant(text: str) -> int:
    """Return the line of the first number in `text` that JSON does not have; 1 where there is none. O(length)."""
    found = next((match for match in _CONSTANT.finditer(text) if match[1]), None)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise refusal([problem(twice, form.duplicate_key(twice))])
    return document


def _constant(name: str) -> Any:
    raise ValueError(form.no_json_number(name))


def _error_said(error: ValueError) -> Said:
    """Return what `_constant` said, or Python's own words."""
    return error.args[0] if error.args and isinstance(error.args[0], Said) else verbatim(str(error))


# -------------------------------------------------------------------------------------------------------------- YAML


class _Frame:
    """A mapping or list being read, how many values it holds in all, and the key that waits for its value."""

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.size = 1
        self.key: str | None = None
        self.merged: list[Any] = []


class _Builder:
    """Turns parser events into a document. `anchors` holds finished values only, so nothing can contain itself."""

    def __init__(self) -> None:
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.documents: list[Any] = []
        self.values = 0

    def handle(self, event: Any) -> None:
        """Take one event. Raises InvalidSpec."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self.put(self.read(event), 1, event.anchor, event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self.check_tag(event)
            if len(self.stack) >= MAX_DEPTH:
                raise refusal([problem("", form.too_deep(MAX_DEPTH))])
            self.stack.append(_Frame({} if kind is yaml.MappingStartEvent else [], event.anchor))
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            frame = self.stack.pop()
            self.merge(frame, event)
            self.put(frame.value, frame.size, frame.anchor, event)
        elif kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                raise self.broken(event, form.no_yaml_anchor(event.anchor))
            value, size = self.anchors[event.anchor]
            self.put(value, size, None, event)

    def read(self, event: Any) -> Any:
        """Return the value of a scalar: plain ones have a meaning, quoted ones are texts."""
        if event.tag == _STRING_TAG or not event.implicit[0]:
            if event.tag not in (_STRING_TAG, "!", None):
                self.check_tag(event)
            return event.value
        return scalar(event.value)

    def check_tag(self, event: Any) -> None:
        """Refuse tags: they ask a loader to construct things."""
        if event.tag not in _KNOWN_TAGS:
            raise refusal([problem("", form.yaml_tag(str(event.tag)))])

    def put(self, value: Any, size: int, anchor: str | None, event: Any) -> None:
        """Place a finished value: as a key, under its key, in its list, or as the document."""
        self.values += size
        if self.values > MAX_VALUES:
            raise refusal([problem("", form.too_many_values(MAX_VALUES))])
        if anchor is not None:
            self.anchors[anchor] = (value, size)
        if not self.stack:
            self.documents.append(value)
            return
        frame = self.stack[-1]
        frame.size += size
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            frame.key = self.key(value, event)
        else:
            if frame.key == "<<" and isinstance(value, dict | list):
                frame.merged.append(value)
            elif frame.key in frame.value:
                raise refusal([problem(self.path(), form.duplicate_key(frame.key), _line(event))])
            else:
                frame.value[frame.key] = value
            frame.key = None

    def key(self, value: Any, event: Any) -> str:
        """Return a mapping's key, which is always its text as written."""
        if isinstance(value, dict | list):
            raise self.broken(event, form.yaml_key_not_text())
        return event.value if isinstance(event, yaml.ScalarEvent) else str(value)

    def path(self) -> str:
        """Return the dotted path of the value being placed."""
        parts = []
        for frame in self.stack:
            parts.append(frame.key if isinstance(frame.value, dict) else str(len(frame.value)))
        return ".".join(part for part in parts if part is not None)

    def merge(self, frame: _Frame, event: Any) -> None:
        """Fill in what ``<<: *defaults`` brings; the mapping's own keys win, then the first of several."""
        for source in frame.merged:
            for part in source if isinstance(source, list) else [source]:
                if not isinstance(part, dict) or not isinstance(frame.value, dict):
                    raise self.broken(event, form.yaml_merge_not_mapping())
                for key, value in part.items():
                    frame.value.setdefault(key, value)

    def broken(self, event: Any, detail: Said) -> InvalidSpec:
        """Return the refusal of a text that breaks a rule of YAML at `event`."""
        return refusal([problem(self.path(), form.syntax(format="YAML", detail=detail, line=_line(event)))])


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _yaml(text: str) -> Any:
    builder = _Builder()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events: Iterable[Any] = yaml.parse(text, Loader=loader)
        for event in events:
            builder.handle(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        told = (error.problem or error.context or "").strip()
        detail = verbatim(told) if told else form.yaml_unreadable()
        raise refusal([problem("", form.syntax(format="YAML", detail=detail, line=line))]) from None
    except yaml.YAMLError as error:
        raise refusal(
            [problem("", form.syntax(format="YAML", detail=verbatim(str(error).splitlines()[0]), line=1))]
        ) from None
    except UnicodeEncodeError:
        raise refusal([problem("", form.not_unicode())]) from None
    if len(builder.documents) > 1:
        raise refusal([problem("", form.syntax(format="YAML", detail=form.several_yaml_documents(), line=1))])
    return builder.documents[0] if builder.documents else None


# -------------------------------------------------------------------------------------------------------------- --set


def apply_set(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return `document` with each ``path: value`` of `changes` set, in order.

    A path names keys and list places (``roles.0.parameters.lr``; ``\.`` is a dot inside a key); missing objects on the
    way are made, a list may grow by one. Values that are texts are read as YAML: ``0.1`` is a number, ``"0.1"`` a text,
    ``[a, b]`` a list. Raises InvalidSpec with every bad path. O(size).
    """
    if found := oversized_changes(changes):
        raise refusal(found)
    changed: dict[str, Any] = _copy(dict(document))
    for path, given in changes.items():
        try:
            value = _value(given) if isinstance(given, str) else given
        except InvalidSpec as error:
            found += [Problem(path, p.rule, p.remedy, p.code, p.value, p.args) for p in error.problems]
            continue
        detail = _put(changed, [part.replace("\\.", ".") for part in _DOT.split(path)], value)
        if detail is not None:
            found.append(problem(path, form.bad_set_path(place=path, detail=detail)))
    if found:
        raise refusal(found)
    return changed


def _copy(value: Any) -> Any:
    """Copy without sharing: what two aliases of a YAML file had in common must not change together."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list | tuple) else value


def _value(text: str) -> Any:
    """Read a value as typed: brackets, braces and quotes by YAML's rules, else a plain scalar."""
    if text[:1] in ("[", "{", '"', "'"):
        return parse_document(f"value: {text}")["value"]
    return scalar(text.strip())


def _put(document: dict[str, Any], parts: list[str], value: Any) -> Said | None:
    """Set the value at `parts`; return why that is impossible, or None."""
    if len(parts) > 32 or not all(parts):
        return form.path_empty_or_too_long()
    holder: Any = document
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if isinstance(holder, list):
            if not (part.isascii() and part.isdigit() and len(part) < 6):
                return form.no_list_place(part)
            at = int(part)
            if at > len(holder):
                return form.list_has_items(len(holder))
            if at == len(holder):
                holder.append({} if following else value)
        elif not isinstance(holder, dict):
            return form.inside_a_single_value(part)
        key: Any = int(part) if isinstance(holder, list) else part
        if following is None:
            holder[key] = value
        else:
            if isinstance(holder, dict) and holder.get(key) is None:
                holder[key] = {}
            holder = holder[key]
    return None
