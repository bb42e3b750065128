"""Types what a page of the guide tells to type, and compares what is printed with what the page shows.

    scripts/said.py docs/guide/getting-started.md           say where the page and the product differ
    scripts/said.py docs/guide/getting-started.md --write   put what was printed into the page, and
                                                            into the Chinese pages that show the same

A block ```console is a session: a line that begins with "$ " is typed, what follows is what it printed. A block of any
other language below a line such as "`job.yaml`:" is a file of that name. Ids, numbers, times and paths may differ.
A comment <!-- typed unseen: --> has commands, a line each, of which nothing is shown or compared: what the reader of a
page did before, or waits for. <!-- answered unseen: --> has what is typed at the prompts of the next session, a line
each. A session below <!-- not typed: why --> stays as it is. Commands run one after the other in one empty folder; the
server that the page starts is stopped at the end.
What a page needs beside its server is started, too, or made in a folder of its own: tests/fixtures/beside_pages.py.
"""

import argparse
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[1]
OWN = Path(sys.executable).parent
COLUMNS = "88"
READY = "Stop with Ctrl-C"
READY_S = 120.0
COMMAND_S = 300.0
FENCE = re.compile(r"^( *):?```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
UNSEEN = re.compile(r"^<!-- (typed|answered) unseen:\n(.*?)^-->$", re.MULTILINE | re.DOTALL)
NOT_TYPED = re.compile(r"^<!-- not typed: [^>]+ -->\n+\Z", re.MULTILINE)
FILE = re.compile(r"`([\w./~-]+)`[^`\n]*:\n+\Z")
ID = re.compile(r"\b[tikw][0-9a-f]{11,40}\b")  # whole, or its first 12 characters, as in lists
CUT_ID = re.compile(r"\bt[0-9a-f]{7}\b")  # as entries of a balance say it
NEW = re.compile(r"\btJOB(\d+)\b")  # in a page that was never written: the first, second, ... id that it shows
SHORT = 6
PASSING = re.compile(  # what depends on how fast the machine is, and on what it lacks
    r"(?i)\S+ +(queued|initiali[sz]ing|running|saving|stopping)$|note +memory|The Python of tasks|PATH -m pip|"
    r"expected start|queued for|run time\b"
)
TYPED_ID = re.compile(r"\b[tikw][0-9a-f]{3,40}\b")
TYPED = re.compile(r" *\$ ")
COMMENT = re.compile(r" +# .*$")
PROMPT = b": "


@dataclass
class Said:
    """One command of a page: what the page shows and what was printed."""

    command: str
    shown: str
    printed: str = ""

    @property
    def same(self) -> bool:
        return skeleton(self.shown) == skeleton(self.printed)


@dataclass
class Session:
    """Runs the commands of a page in `folder`, with the server's home in `home`."""

    folder: Path
    home: Path
    address: str = ""
    server: "subprocess.Popen[str] | None" = None
    ids: dict[str, str] = field(default_factory=dict)
    """Of the page to those of this run."""
    seen: list[str] = field(default_factory=list)
    """All ids of this run, in the order in which they appeared."""
    page: str = ""
    """The whole page."""
    stands: dict[str, str] = field(default_factory=dict)
    """What stands for an address or a folder of the page: a receiver on this machine, for https://example.org."""
    answers: list[str] = field(default_factory=list)
    """What is typed at the next prompts."""

    @property
    def env(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{OWN}:{os.environ['PATH']}",
            "TRAINMASTER_HOME": str(self.home),
            "COLUMNS": COLUMNS,
            "NO_COLOR": "1",
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
        }

    def here(self, text: str) -> str:
        """What a page says, with what stands for its addresses and folders."""
        for there, here in self.stands.items():
            text = text.replace(there, here)
        return text

    def write(self, name: str, text: str) -> None:
        path = Path(str(self.home) + name.removeprefix("~/.trainmaster")) if name[0] == "~" else self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.here(text))

    def run(self, one: Said, unseen: bool = False) -> None:
        """Type a command; ids of the page in it are those of this run. `unseen`: the page shows nothing of it."""
        if one.command.startswith("trainmaster serve"):
            one.printed = self.serve(one.command)
            return
        one.command = NEW.sub(lambda found: self.named(int(found[1]), unseen, one.command), one.command)
        self.claim(one.command)
        typed = TYPED_ID.sub(lambda found: self.current(found[0]), one.command)
        printed = self.as_ann(on_a_terminal(self.here(typed), self.folder, self.env, self.answers))
        self.learn(None if unseen else one.shown, printed)
        for page, here in self.ids.items():
            printed = as_long_as(printed, here, page)
        one.printed = printed if printed.strip() else ""

    def current(self, typed: str) -> str:
        return next((here for page, here in self.ids.items() if page.startswith(typed)), typed)

    def named(self, number: int, unseen: bool, command: str) -> str:
        """Return what a page calls the first, second, ... id of this run, until it is written: as it is called here."""
        count = len(self.seen)
        assert number <= count, f"{command}: only {count} id{'s were' if count != 1 else ' was'} printed before"
        here = self.seen[number - 1]
        if not unseen:
            self.ids.setdefault(here, here)
        return here[:SHORT]

    def claim(self, command: str) -> None:
        """Let ids that the page types before it shows them be those that came of what was typed unseen, in order."""
        for typed in TYPED_ID.findall(command):
            whole = max((one for one in ID.findall(self.page) if one.startswith(typed)), key=len, default="")
            free = [one for one in self.seen if one[:12] not in self.taken]
            if whole and free and not self.knows(whole):
                self.ids[whole] = free[0]

    def learn(self, shown: str | None, printed: str) -> None:
        """Take note of the ids that were printed; those that the page shows stand for them."""
        new = [found for found in dict.fromkeys(ID.findall(printed)) if found[:12] not in self.taken]
        self.seen += [found for found in new if found[:12] not in {one[:12] for one in self.seen}]
        if shown is not None:
            old = [found for found in dict.fromkeys(ID.findall(shown)) if not self.knows(found)]
            self.ids.update(zip(old if len(old) == len(new) else new, new, strict=True))

    @property
    def taken(self) -> set[str]:
        """The ids of this run that stand for one of the page, as lists show them."""
        return {here[:12] for here in self.ids.values()}

    def knows(self, page: str) -> bool:
        return any(known[:12] == page[:12] for known in self.ids)

    def serve(self, command: str) -> str:
        where = "" if "--port" in command else " --port 0"
        self.server = subprocess.Popen(
            ["bash", "-c", f"exec {command}{where}"],
            cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert self.server.stdout is not None
        said, give_up = "", time.monotonic() + READY_S
        while READY not in said and self.server.poll() is None and time.monotonic() < give_up:
            said += self.server.stdout.readline()
        self.address = said.partition(" is ready at ")[2].partition("\n")[0]
        return self.as_ann(said)

    def as_ann(self, text: str) -> str:
        """What was printed with the folders and the address of the page's reader, whom we call ann."""
        names = {self.address: "http://127.0.0.1:8470", str(self.home): "/home/ann/.trainmaster"}
        names |= {str(self.folder): "/home/ann/work", str(OWN): "/home/ann/.venvs/trainmaster/bin"}
        names |= {here: there for there, here in self.stands.items()}
        for here, there in names.items():
            text = text.replace(here, there) if here else text
        return text

    def close(self) -> None:
        """End what the page left running, for jobs outlive servers, and its server."""
        if self.server is not None:
            every = ["tm", "bulk", "stop", "--state", "running", "--state", "queued", "--yes"]
            subprocess.run(every, cwd=self.folder, env=self.env, capture_output=True, timeout=60, check=False)
            self.server.send_signal(signal.SIGTERM)
            self.server.communicate(timeout=60)


def as_long_as(printed: str, here: str, page: str) -> str:
    """What was printed, with the page's id in place of ours, whole or as short as it was."""
    return re.sub(rf"\b{here[:12]}[0-9a-f]*", lambda found: page[: len(found[0])], printed)


def on_a_terminal(command: str, folder: Path, env: dict[str, str], answers: list[str]) -> str:
    """What a person sees in the end: a command may look at its terminal, and draw over what it wrote. The next of
    `answers` is typed, and taken out, when it asks.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 60, int(COLUMNS), 0, 0))
    words = ["bash", "-c", command]
    running = subprocess.Popen(words, cwd=folder, env=env, stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    written, give_up = b"", time.monotonic() + COMMAND_S
    with suppress(OSError):  # it has ended, and with it its side of the terminal
        while time.monotonic() < give_up and (piece := os.read(ours, 1 << 16)):
            written += piece
            if answers and piece.endswith(PROMPT):
                os.write(ours, f"{answers.pop(0)}\n".encode())
    os.close(ours)
    running.wait(10)
    return screen(written.decode(errors="replace"))


def screen(text: str) -> str:
    """The lines that stand on a terminal on which `text` was written: the few orders that progress bars use."""
    lines, row, column = [""], 0, 0
    for order in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r|\n|[^\x1b\r\n]+", text):
        if order == "\r":
            column = 0
        elif order == "\n":
            row, column = row + 1, 0
            lines += [""] * (row == len(lines))
        elif order[0] != "\x1b":
            lines[row] = lines[row][:column].ljust(column) + order + lines[row][column + len(order) :]
            column += len(order)
        elif order[-1] == "A":
            row = max(0, row - int(order[2:-1] or 1))
        elif order[-1] == "K":
            lines[row] = "" if order[2:-1] == "2" else lines[row][:column]
    return "".join(f"{line.rstrip()}\n" for line in lines).rstrip("\n") + "\n"


def skeleton(text: str) -> list[str]:
    """What must be the same: words, in their lines. Numbers, ids, paths, bars and blanks are not."""
    text = re.sub(r"(?:\S| (?=\S))*…", "CUT", text)  # a cell that was too long: where it ends, others decide
    text = CUT_ID.sub("ID", ID.sub("ID", text))
    text = re.sub(r"(?:https?:/)?/[\w./:-]+(?:#\S+)?", "PATH", text)
    text = re.sub(r"password:? +\S+", "password", text)
    text = re.sub(r"\b(tm|whsec)_\S+", r"\1_", text)  # a token, the secret of a webhook
    text = re.sub(r"\b[0-9a-su-z][0-9a-f]{7,40}\b", "ASSET", text)  # a model, a data set; a digest
    text = re.sub(r"(?<!\S)(?=\S*[A-Z])(?=\S*[a-z])[\w-]{28,40}(?!\S)", "MARK", text)  # a sealed id
    text = re.sub(r"(?m)^n[\w-]{7}(?= )", "MARK", text)  # the beginning of one, as a list of notifications shows it
    text = re.sub(r"\bStopp(ing|ed)$", "Stopped", text, flags=re.MULTILINE)  # as fast as the machine is
    text = re.sub(r"[▁▂▃▄▅▆▇█░━╸╺ ─]+", " ", text)
    text = re.sub(r"<?\d+(?:\.\d+)?(?:e[+-]\d+)?(?: ?(?:ms|[smhd])\b(?: \d+[smh])*)?", "N", text)
    text = re.sub(r"\bN [KMGT]iB\b", "N B", text)  # a volume, for example, is measured when there is time
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not PASSING.match(line)]


def commands(block: str) -> Iterator[Said]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        # A command that goes on after a backslash is one line while it is split; a CR holds the place of its line end.
        command, _, shown = re.sub(r"\\\n", "\\\\\r", part).partition("\n")
        yield Said(command.replace("\\\r", "\\\n"), shown.replace("\\\r", "\\\n"))


def play(page: Path, session: Session) -> tuple[list[Said], str]:
    """Type all of a page. Returns what was said, and the page with what was printed."""
    text, done, last = page.read_text(), [], 0
    session.page = text
    pieces: list[str] = []
    for found in sorted([*FENCE.finditer(text), *UNSEEN.finditer(text)], key=lambda one: one.start()):
        pieces.append(text[last : found.start()])
        last = found.end()
        name = FILE.search(text[: found.start()])
        if found.re is UNSEEN and found[1] == "answered":
            pieces.append(found[0])
            session.answers = found[2].splitlines()
        elif found.re is UNSEEN:
            pieces.append(found[0])
            for line in found[2].splitlines():
                session.run(one := Said(line, ""), unseen=True)
                assert not re.match("error |bash: ", one.printed), f"{line}\n{one.printed}"
        elif found[2] == "console" and not NOT_TYPED.search(text[: found.start()]):
            said = [*commands(dedent(found[3]))]
            for one in said:
                session.run(one)
            done += said
            assert not session.answers, f"not asked for: {session.answers}"
            body = "".join(f"$ {one.command}\n{one.printed}" for one in said)
            pieces.append(indent(f"```console\n{body}```", found[1]))
        else:
            pieces.append(found[0])
            if name:
                session.write(name[1], found[3])
    return done, "".join(pieces) + text[last:]


def take_along(old: str, new: str, pages: Iterable[Path]) -> None:
    """Put the sessions that are new in a page into `pages` of the other language, which show the same sessions. What
    stands there as comments behind commands stays.
    """
    before, after = ([found[0] for found in FENCE.finditer(text) if found[2] == "console"] for text in (old, new))
    renewed = {uncommented(was): now for was, now in zip(before, after, strict=True)}

    def anew(found: re.Match[str]) -> str:
        now = renewed.get(uncommented(found[0]), found[0])
        comments = iter([comment[0] for line in typed(found[0]) if (comment := COMMENT.search(line))])

        def own(line: str) -> str:
            return COMMENT.sub(lambda _: next(comments, ""), line) if TYPED.match(line) else line

        return "\n".join(own(line) for line in now.split("\n"))

    for page in pages:
        text = page.read_text()
        page.write_text(FENCE.sub(anew, text))


def typed(block: str) -> list[str]:
    """The lines of a session that are commands."""
    return [line for line in block.split("\n") if TYPED.match(line)]


def uncommented(block: str) -> str:
    """A session without what stands as comments behind its commands."""
    return "\n".join(COMMENT.sub("", line) if TYPED.match(line) else line for line in block.split("\n"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--home", type=Path, help="the home of a server that runs already")
    parser.add_argument("--folder", type=Path, help="the folder in which to type, such as a checkout")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.fixtures.beside_pages import beside  # noqa: PLC0415 - where this is a script, found only now

    with tempfile.TemporaryDirectory() as folder, beside(options.page.name, Path(folder)) as stands:
        session = Session(options.folder or Path(folder) / "work", options.home or Path(folder) / "home")
        session.stands = stands
        session.folder.mkdir(exist_ok=True)
        try:
            done, text = play(options.page, session)
        finally:
            session.close()
    if options.write:
        take_along(options.page.read_text(), text, [ROOT / "README.zh.md", *(ROOT / "docs/zh").rglob("*.md")])
        options.page.write_text(text)
    different = [one for one in done if not one.same]
    for one in different:
        print(f"$ {one.command}\n--- the page\n{one.shown}--- printed\n{one.printed}")
    return 0 if options.write or not different else 1


if __name__ == "__main__":
    sys.exit(main())
