"""What stands in a mail, in the language that its reader chose. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster.messages import render
from trainmaster.messages.server import notices as said
from trainmaster.service.notices.kinds import Wishes, words_of
from trainmaster.service.notices.mailing import Mail

MOST_LISTED: Final = 30
PREFIX: Final = "[Trainmaster] "


def letter(wishes: Wishes, records: Sequence[Mapping[str, object]], base: str, id_: str, at: float) -> Mail:
    """Return one mail for all that came together, oldest first; each `record` with its link."""
    language = wishes.language
    texts = [getattr(words_of(one), language) for one in records]
    subject = texts[0] if len(texts) == 1 else render.text(said.mail_subject(len(texts)), language)
    parts = [f"{text}\n{one.get('link', base)}" for text, one in zip(texts, records, strict=True)][:MOST_LISTED]
    if len(texts) > MOST_LISTED:
        parts.append(render.text(said.mail_more(len(texts) - MOST_LISTED, f"{base}/notifications"), language))
    foot = render.text(said.mail_footer(f"{base}/settings?tab=notifications"), language)
    return Mail(wishes.address, PREFIX + subject, "\n\n".join(parts) + f"\n\n-- \n{foot}\n", id_, at)


def code_letter(address: str, user: str, code: str, good_s: float, language: str, id_: str, at: float) -> Mail:
    """Return the mail with which an address is confirmed."""
    subject = PREFIX + render.text(said.mail_code_subject(), language)
    both = (said.mail_code(code, good_s), said.mail_code_why(user))
    lines = [f"{render.text(one, language)}\n{render.remedy(one, language)}" for one in both]
    return Mail(address, subject, "\n\n".join(lines) + "\n", id_, at)
