"""Splitting and filling in, with no shell: the same words as a POSIX shell, and `$NAME` only where it may be (R107,
R118).
"""

import shlex
import subprocess

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.frameworks.words import expand, fill, split

ENV = {"A": "one two", "B": "$A", "PAI_HOST_IP_a.b_0": "10.0.0.1", "PAI_HOST_IP_a_b_0": "10.0.0.1", "E": ""}


@settings(max_examples=examples(500))
@given(st.text(alphabet=" \t\nab1.-='\"\\é文", max_size=24))
@example("a\\\\ b")
@example("'' \"\" x''y")
def test_the_same_words_as_shlex(text: str) -> None:
    """Where shlex and a shell differ (a backslash before a line end joins the lines) we do as the shell."""
    assume("\\\n" not in text)
    try:
        expected: list[str] | None = shlex.split(text)
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(ValueError, match="No "):
            split(text)
    else:
        assert split(text) == expected


@settings(max_examples=examples(60))
@given(st.text(alphabet="ab 'x\"\\$AB{}.", max_size=16))
def test_the_same_as_a_real_shell_where_the_shell_does_not_split_values(text: str) -> None:
    """Names that are known, values without blanks: exactly what `sh` makes of the same text."""
    assume(not any(odd in text for odd in ("${", "$$", "}")))
    env = {
        name: name.lower() * 2
        for name in ("A", "B", "AA", "AB", "BA", "BB", "Ax", "Ab", "Aa", "Ba", "Bb", "Bx", "a", "b", "x")
    }
    done = subprocess.run(
        ["/bin/sh", "-c", f'for w in {text}\ndo printf "%s\\0" "$w"; done'], env=env, capture_output=True, check=False
    )
    try:
        ours = expand(text, env)
    except ValueError:
        return
    assume(not done.stderr)
    known = all(
        word.count("$") == shell.count("$") for word, shell in zip(ours, done.stdout.decode().split("\0"), strict=False)
    )
    if known:
        assert "\0".join([*ours, ""]) == done.stdout.decode()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run $A", ["run", "one two"]),  # never split again
        ("run ${A}x", ["run", "one twox"]),
        ("run $AB $A_ $Ax", ["run", "$AB", "$A_", "$Ax"]),  # whole names only
        ('run "$A"', ["run", "one two"]),
        ("run '$A'", ["run", "$A"]),  # never inside single quotes
        ("run \\$A", ["run", "$A"]),
        ('run "\\$A"', ["run", "$A"]),
        ("run $NOPE ${NOPE} $1 $$ $ ${A:-x} $(A)", ["run", "$NOPE", "${NOPE}", "$1", "$$", "$", "${A:-x}", "$(A)"]),
        ("run $B", ["run", "$A"]),  # a value is not read again
        ("run x$E-y", ["run", "x-y"]),
        ("run ${PAI_HOST_IP_a.b_0}:$PAI_HOST_IP_a_b_0", ["run", "10.0.0.1:10.0.0.1"]),
        ('bash -c "for i in $A; do echo \\$i $i; done"', ["bash", "-c", "for i in one two; do echo $i $i; done"]),
        ("a\\\nb \\\n c", ["ab", "c"]),
        ("", []),
    ],
)
def test_what_is_replaced_and_what_is_not(text: str, words: list[str]) -> None:
    assert expand(text, ENV) == words


def test_fill_leaves_texts_without_names_alone() -> None:
    assert fill("pa$$word$", ENV) == "pa$$word$"
    assert fill("$A", {}) == "$A"
