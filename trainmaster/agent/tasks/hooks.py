"""Commands before and after a task's own (R53): the shell that runs the three in turn, and what it notes of them.

The shell is the task's main process, in its sandbox, so it is started, stopped, adopted and proven gone as any program.
It notes what it has come to in a file that only it has open; what it notes decides no more than how an end is told.
Invariant: the task ends as its command did, or as `before` did when that failed; never as `after` did. See
docs/design/hooks.md.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster._compat import dataclass

SHELL, ENV = "/bin/sh", "/usr/bin/env"
NOTES_FD: Final = 7
"""Where the shell has its notes open; what it runs has not."""
BEFORE, AFTER = "[hooks.before]", "[hooks.after]"
"""What the lines in a log begin with that say what a hook runs, and how it ended."""
LONGEST: Final = 500
"""Characters of a hook's command that a log shows."""
_LOOKED, _BLOCK = 64 << 20, 1 << 20
"""Bytes of a log behind which no beginning of `after` is looked for, and that are looked at at once."""
_SAID_AFTER: Final = 6
"""Which of the words that run hooks says what `after` runs."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Plain POSIX, for dash, bash and busybox. What it runs is in the foreground, or it would ignore SIGINT; each in a
# subshell, so that it has the default action of every signal again. The shell's own words on how they ended go nowhere.
# Only a stop is remembered: the command must not start behind it. Nobody's variable is called as these are; PATH is the
# job's, which may name no folder of the system.
SCRIPT: Final = rf"""
exec 8>&2 2>/dev/null
trap '__tm_stopped=1' TERM
trap : HUP INT QUIT USR1 USR2 PIPE ALRM
__tm_within=$1 __tm_said_before=$2 __tm_said_after=$3 __tm_before=$4 __tm_after=$5 __tm_stopped=
shift 5
__tm_keep() {{
  __tm_count=$1 __tm_rest=$(($# - 1 - $1))
  shift
  while [ "$__tm_count" -gt 0 ]; do
    set -- "$@" "$1"
    shift
    __tm_count=$((__tm_count - 1))
  done
  shift "$__tm_rest"
  exec 2>&8 8>&-
  "$__tm_run" "$@"
}}
__tm_plainly() {{
  exec "$@" {NOTES_FD}>&-
}}
__tm_for_a_while() {{
  exec {SHELL} -c '
    (exec >/dev/null 2>&1; PATH=$PATH:/usr/bin:/bin; sleep "$1" && echo cut >&{NOTES_FD} && kill -KILL $$) &
    shift
    exec "$@" {NOTES_FD}>&-
  ' "$0" "$__tm_within" "$@"
}}
if [ "$__tm_before" -gt 0 ]; then
  printf '%s\n' "{BEFORE} $__tm_said_before"
  (__tm_run=__tm_plainly; __tm_keep "$__tm_before" "$@")
  __tm_code=$?
  printf '%s\n' "{BEFORE} exit $__tm_code"
  echo "before $__tm_code" >&{NOTES_FD}
  [ "$__tm_code" -eq 0 ] || exit "$__tm_code"
  shift "$__tm_before"
fi
[ -z "$__tm_stopped" ] || exit 143
echo run >&{NOTES_FD}
(shift "$__tm_after"; exec 2>&8 8>&-; exec "$@" {NOTES_FD}>&-)
__tm_code=$?
if [ "$__tm_after" -gt 0 ]; then
  echo begun >&{NOTES_FD}
  printf '%s\n' "{AFTER} $__tm_said_after"
  (__tm_run=__tm_for_a_while; __tm_keep "$__tm_after" "$@")
  __tm_ended=$?
  printf '%s\n' "{AFTER} exit $__tm_ended"
  echo "after $__tm_ended" >&{NOTES_FD}
fi
exit "$__tm_code"
"""


def around(
    argv: tuple[str, ...], before: tuple[str, ...], after: tuple[str, ...], after_s: float, env: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the words that run `before`, `argv` and `after` in turn. `after_s`: how long `after` may take."""
    first, last, own = (_with_odd_names(words, env) for words in (before, after, argv))
    told = (str(math.ceil(after_s)), _shown(before), _shown(after), str(len(first)), str(len(last)))
    return (SHELL, "-c", SCRIPT, "hooks", *told, *first, *last, *own)


def after_began(log: str, argv: Sequence[str]) -> int:
    """Return where in the file `log` the lines of `after` begin, of a task that runs `argv` (`around`); 0 where that is
    not found. Another line may be right before it, without its end. O(bytes that `after` printed).
    """
    wanted = os.fsencode(f"{AFTER} {argv[_SAID_AFTER]}\n")
    try:
        fd = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        end = os.fstat(fd).st_size
        least = max(0, end - _LOOKED)
        while end > least:
            begin = max(least, end - _BLOCK)
            found = os.pread(fd, end - begin + len(wanted) - 1, begin).rfind(wanted)
            if found >= 0:
                return begin + found
            end = begin
    finally:
        os.close(fd)
    return 0


def _shown(words: tuple[str, ...]) -> str:
    text = shlex.join(words)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _with_odd_names(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return `argv` with the variables that a shell does not hand on, dash none that it cannot name itself: those of
    roles with a hyphen or a dot in their names (D4).
    """
    odd = tuple(f"{name}={value}" for name, value in env.items() if not _NAME.fullmatch(name))
    return (ENV, *odd, *argv) if odd and argv else argv


@dataclass(frozen=True, slots=True)
class Noted:
    """What the shell of a task has come to. `before`, `after`: exit codes, None: not ended, or there is none. `ran`:
    the command was started. `begun`: `after` was. `cut`: `after` took longer than it may.
    """

    before: int | None = None
    ran: bool = False
    begun: bool = False
    after: int | None = None
    cut: bool = False


def read(path: str) -> Noted:
    """Return what the notes at `path` say; nothing where they cannot be read."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = file.read(4096).split("\n")
    except OSError:
        return Noted()
    codes = {word: int(code) for word, _, code in (line.partition(" ") for line in lines) if code.isdigit()}
    return Noted(codes.get("before"), "run" in lines, "begun" in lines, codes.get("after"), "cut" in lines)
