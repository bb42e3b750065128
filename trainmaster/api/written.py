"""How answers are written: JSON by msgspec. NaN and infinity become null, what JSON has no kind for its text.

Invariant: what is there can be written. A text that is no Unicode (the name of a file may be any bytes, and what stands
for them in Python has no UTF-8) is shown with question marks where it is none.
"""

from typing import Any, Final

import msgspec

_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


def encode(content: Any) -> bytes:
    """Return `content` as JSON. O(size)."""
    try:
        return _ENCODER.encode(content)
    except UnicodeEncodeError:
        return _ENCODER.encode(_encodable(msgspec.to_builtins(content, str_keys=True, enc_hook=str)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list | tuple) else value
