"""Sign-ins through a provider that were begun and not completed yet: state, nonce and the verifier of PKCE.

Nothing is kept of them, so that nobody fills the memory by beginning many: all three are made of the flow, which the
page that began keeps for itself, with a secret of the server. The flow says when it began. Invariant: none is completed
after FLOW_S, in a page of another address, or twice on the same server (the provider accepts a code once, too).
"""

import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

FLOW_S: Final = 600.0
LONGEST: Final = 200
"""Characters of a flow."""
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class FlowSecrets:
    """What one sign-in is recognised by. `verifier`: see RFC 7636."""

    state: str
    nonce: str
    verifier: str


class Flows:
    """One per server. `secret` is the server's own."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._completed: OrderedDict[str, float] = OrderedDict()

    def begin(self, page: str, now: float) -> tuple[str, FlowSecrets]:
        """Return the flow of a sign-in that is to be completed in `page`, and its secrets."""
        flow = f"{secrets.token_urlsafe(32)}.{now:.0f}"
        return f"{flow}.{self._made('flow', page, flow)}", self._secrets(page, flow)

    def take(self, flow: str, page: str, now: float) -> FlowSecrets | None:
        """Return the secrets of a sign-in that was begun here for this page, lately, and not completed."""
        told, _, mark = flow.rpartition(".")
        if not hmac.compare_digest(mark.encode(), self._made("flow", page, told).encode()):
            return None
        began = float(told.rpartition(".")[2])
        if not -60 <= now - began <= FLOW_S or told in self._completed:
            return None
        return self._secrets(page, told)

    def complete(self, flow: str, now: float) -> bool:
        """Note that a sign-in was completed; return False where it was already."""
        told = flow.rpartition(".")[0]
        if told in self._completed:
            return False
        self._completed[told] = now
        while len(self._completed) > _MOST or now - next(iter(self._completed.values())) > FLOW_S + 60:
            self._completed.popitem(last=False)
        return True

    def _secrets(self, page: str, flow: str) -> FlowSecrets:
        return FlowSecrets(*(self._made(what, page, flow) for what in ("state", "nonce", "verifier")))

    def _made(self, what: str, page: str, flow: str) -> str:
        made = hmac.new(self._secret, f"sign-in\0{what}\0{page}\0{flow}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).decode().rstrip("=")
