"""What a job is found by: pieces of the text that people wrote of it, and a mark for each thing that it is. Pure.

Every three characters of a word are a piece. Of what is not ASCII every one and two are, since Chinese words are that
short; of names, short names and ids the first one and two. A mark is a character of its own (from Unicode's private
range) and a name: whose a job is, where it lies. Invariant: what is looked for has no piece that a job which holds it
lacks, so that the index leaves nothing out; what it finds too much, a look at the row takes away.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.store.finding.named import said_as
from trainmaster.store.finding.uses import UsedThing

OWNER, WORKSPACE, SHARED, FRAMEWORK, POOL, LABEL, TAG, NEARLY, USES, NAMED = map(chr, range(0xE000, 0xE00A))
"""Marks. SHARED: in this workspace. NEARLY: a word of a name, or one with a character left out. USES: a version of what
people keep, or a volume (`used`). NAMED: what lists are cut to (`store.finding.named`).
"""

_OF_MANY: Final = (WORKSPACE, SHARED, FRAMEWORK, POOL)
"""Marks that each stand for many jobs."""
_LENGTH: Final = 3
_MOST: Final = 12
"""Pieces of one word that are looked for at most: of a longer one some, the row says the rest."""
_OUT: Final = re.compile(r"[\x00-\x20\x7f]+")
_WORDS: Final = re.compile(r"[^\W_]+")
_NEAR: Final = range(4, 17)
"""Lengths of words that are found though one character of them is wrong."""
_NEAR_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Found:
    """What a job is found by. `text`: folded, one thing a line; `starts`: what its beginning finds, too, folded."""

    text: str
    starts: tuple[str, ...]
    owner: str
    workspace: str
    framework: str
    pool: str
    shared: bool
    labels: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    uses: tuple[UsedThing, ...] = ()
    named: tuple[tuple[str, str], ...] = ()


def of_job(found: Found) -> set[str]:
    """Return all pieces and marks of a job. O(characters)."""
    pieces = {mark(OWNER, found.owner), mark(WORKSPACE, found.workspace)}
    pieces |= {mark(FRAMEWORK, found.framework), mark(POOL, found.pool)}
    if found.shared:
        pieces.add(mark(SHARED, found.workspace))
    for key, value in found.labels:
        pieces |= {mark(LABEL, f"{key}="), mark(LABEL, f"{key}={value}")}
    pieces.update(mark(TAG, tag) for tag in found.tags)
    pieces.update(used(found.workspace, one) for one in found.uses)
    pieces.update(naming(kind, said) for kind, value in found.named for said in said_as(kind, value))
    for word in found.text.split():
        pieces.update(word[at : at + _LENGTH] for at in range(len(word) - _LENGTH + 1))
        if not word.isascii():
            pieces.update(_short(word))
    for start in found.starts:
        pieces |= {start[:1], start[:2]}
    pieces.update(_nearly(found.starts[0] if found.starts else ""))
    return {piece for piece in pieces if piece and not _OUT.search(piece)}


def mark(kind: str, name: str) -> str:
    """Return the mark of what is called `name`."""
    return kind + _OUT.sub("_", name.casefold())


def used(workspace: str, one: UsedThing) -> str:
    """Return the mark of what jobs of a workspace use: names are of a workspace and a kind."""
    return mark(USES, f"{workspace}/{one.kind}/{one.reference}")


def naming(kind: str, said: str) -> str:
    """Return the mark of what jobs name, as it is asked for."""
    return mark(NAMED, f"{kind}/{said}")


def of_word(word: str) -> list[str]:
    """Return pieces that all jobs have in which a folded `word` stands; none where only a look at the row tells."""
    pieces: list[str] = []
    for part in word.split():
        if len(part) < _LENGTH:
            # A short piece of a quoted phrase may stand anywhere: only the whole word is the beginning of a name.
            pieces += [part] if part == word or not part.isascii() else []
        else:
            # Side by side: each one more walks its whole list again, and pieces that overlap say little more.
            starts = [*range(0, len(part) - _LENGTH, _LENGTH), len(part) - _LENGTH]
            every = [part[at : at + _LENGTH] for at in starts]
            pieces += every[:: -(-len(every) // _MOST)]
    return [piece for piece in dict.fromkeys(pieces) if not _OUT.search(piece)]


def how_common(piece: str) -> int:
    """Return what to sort pieces and marks by, so that those come first that few jobs are likely to have: with a digit,
    a sign or a character outside of ASCII in them, a person's, a label's or a tag's; three letters are in many words.
    """
    if piece[:1] in _OF_MANY:
        return 2
    return 1 if piece.isascii() and piece.isalpha() else 0


def is_start(word: str) -> bool:
    """Return whether a folded `word` is so short that it is only looked for where names and ids begin."""
    return len(word) < _LENGTH and word.isascii()


def nearly(word: str) -> list[str]:
    """Return marks of which every job has one whose name has `word`, or one that is a wrong, missing, additional or
    exchanged character away; none of a word that is too short or too long for that.
    """
    return sorted(mark(NEARLY, one) for one in _without_one(word)) if len(word) in _NEAR else []


def names_of(name: str) -> list[str]:
    """Return the words of a name that `nearly` compares, folded."""
    return [word for word in _WORDS.findall(name.casefold()) if len(word) in _NEAR][:_NEAR_WORDS]


def _nearly(name: str) -> Iterator[str]:
    for word in names_of(name):
        yield from (mark(NEARLY, one) for one in _without_one(word))


def _without_one(word: str) -> Iterable[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _short(word: str) -> Iterator[str]:
    for at, character in enumerate(word):
        if not character.isascii():
            yield character
        pair = word[at : at + 2]
        if len(pair) == 2 and not pair.isascii():
            yield pair
