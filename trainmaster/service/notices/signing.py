"""Secrets of webhooks and the signatures that receivers check, in the way of Standard Webhooks (its specification,
1.0): HMAC-SHA256 over id, timestamp and body. Pure.

A secret is made of the webhook's id and a secret of this server, so that it is kept nowhere.
"""

import base64
import hashlib
import hmac
from typing import Final

PREFIX: Final = "whsec_"


def secret_of(master: str, webhook: str) -> str:
    """Return the secret of a webhook, as its maker is shown it."""
    made = hmac.new(master.encode(), b"webhook " + webhook.encode(), hashlib.sha256).digest()
    return PREFIX + base64.b64encode(made).decode()


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(signed).decode()


def headers(secret: str, message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that go with a message."""
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, message, timestamp, body),
    }
