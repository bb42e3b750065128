"""Sends one mail through the administrator's mail server. Blocking: in a worker thread.

Certificates are checked and nothing is sent unencrypted unless `tls = "none"` says so. The password is read from its
file at each mail: whoever changes it there need not start the server again. What writes and sends is imported with the
first mail: a server that sends none does without its 2 MB.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainmaster.core.config import MailConfig
from trainmaster.messages.said import Said
from trainmaster.messages.server import notices as said
from trainmaster.service.notices.addresses import NotSent

if TYPE_CHECKING:
    import smtplib
    from email.message import EmailMessage

PATIENCE_S: Final = 20.0
_BUSY: Final = range(400, 500)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to write. `id`: the same for each try, by which mail programs know that they have it already."""

    to: str
    subject: str
    text: str
    id: str
    at: float


class ServerTrouble(NotSent):
    """The mail server is at fault, not this mail: others have to wait, too."""


def message_of(mail: Mail, sender: str) -> "EmailMessage":
    """Return the message as it is sent."""
    from email.message import EmailMessage  # noqa: PLC0415
    from email.policy import SMTP  # noqa: PLC0415
    from email.utils import formatdate  # noqa: PLC0415

    made = EmailMessage(policy=SMTP)
    made["From"], made["To"] = f"Trainmaster <{sender}>", mail.to
    made["Subject"] = " ".join(mail.subject.split())
    made["Date"] = formatdate(mail.at)
    made["Message-ID"] = f"<{mail.id}@{sender.rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(mail.text, cte="base64")
    return made


class Mailer:
    """One object per server."""

    def __init__(self, config: MailConfig) -> None:
        self._config = config

    @property
    def on(self) -> bool:
        """Whether mails are sent at all."""
        return bool(self._config.host)

    def send(self, mail: Mail) -> None:
        """Send. Raises NotSent where this mail is refused (status 500 and above: for good), ServerTrouble where none
        can be sent now.
        """
        import smtplib  # noqa: PLC0415

        config = self._config
        try:
            with self._connected() as server:
                if config.user:
                    server.login(config.user, Path(config.password_file).read_text(encoding="utf-8").strip())
                server.send_message(message_of(mail, config.sender), config.sender, [mail.to])
        except smtplib.SMTPAuthenticationError:
            raise ServerTrouble(said.mail_server_sign_in()) from None
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            raise NotSent(_refused(code, words), code) from None
        except smtplib.SMTPResponseException as error:
            kind = ServerTrouble if error.smtp_code in _BUSY else NotSent
            raise kind(_refused(error.smtp_code, error.smtp_error), error.smtp_code) from None
        except smtplib.SMTPNotSupportedError:
            raise ServerTrouble(said.mail_server_no_tls()) from None
        except ssl.SSLCertVerificationError:
            raise ServerTrouble(said.mail_server_not_trusted()) from None
        except (smtplib.SMTPException, OSError):
            raise ServerTrouble(said.mail_server_silent()) from None

    def _connected(self) -> "smtplib.SMTP":
        import smtplib  # noqa: PLC0415

        config = self._config
        if config.tls == "tls":
            return smtplib.SMTP_SSL(config.host, config.port, timeout=PATIENCE_S, context=self._trust())
        server = smtplib.SMTP(config.host, config.port, timeout=PATIENCE_S)
        try:
            if config.tls == "starttls":
                server.starttls(context=self._trust())
        except BaseException:
            server.close()
            raise
        return server

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._config.ca or None)


def _refused(code: int, words: bytes | str) -> Said:
    text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
    return said.mail_server_refused(f"{code} {' '.join(text.split())[:200]}")
