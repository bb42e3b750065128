"""What is given on a command line to begin on a node that shares no folder with the server: it can read nothing of ours
yet.
"""

from __future__ import annotations

from typing import Final

from trainmaster.agent.place import NEW_ENOUGH

BEGIN: Final = f"""\
import json, os, stat, sys, time
{NEW_ENOUGH}
base, run, number, most, program = sys.argv[1:]
root = base + "-" + number + "-" + os.environ["SLURMD_NODENAME"]
mask = os.umask(0o077)
os.makedirs(root, 0o700, exist_ok=True)
os.umask(mask)
def check(path, below=2):
    above, found = os.path.dirname(path), os.lstat(path)
    above == path or check(above, max(below - 1, 0))
    link, others = stat.S_ISLNK(found.st_mode), found.st_mode & 0o022
    if below and (link or others or found.st_uid != os.geteuid()):
        sys.exit(path + ": others than this user can write there")
    if found.st_uid not in (0, os.geteuid()) or not link and others and not found.st_mode & stat.S_ISVTX:
        sys.exit(path + ": others than this user and root can replace what lies there")
    link and check(os.path.join(os.path.realpath(above), os.readlink(path)), 0)
check(root)
open(root + "/wants-" + run, "w").close()
heard = -1
while not os.path.exists(root + "/ready"):
    now = os.stat(root + "/heard").st_mtime_ns if os.path.exists(root + "/heard") else 0
    if now != heard: until, heard = time.monotonic() + float(most), now
    time.monotonic() > until and sys.exit("the server did not bring what the job needs")
    time.sleep(0.05)
with open(root + "/ready") as file:
    owner, package, folder = json.load(file)
if owner != run:
    print("this attempt was started before: nothing is done", file=sys.stderr)
    sys.exit(0)
sys.path.insert(0, package)
from trainmaster.engines.slurm.node.mirrored import main
sys.exit(main([program, root, folder, run, number, most]))
"""
"""What ``python -I -S -c BEGIN BASE RUN COMPONENT SECONDS PROGRAM`` runs on each node. The root is called after base,
component and node; it waits for the server, at the start and at the end, until that has got no further for so many
seconds."""


START: Final = f"""\
import sys
{NEW_ENOUGH}
text = sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(4), "big"))
exec(compile(text, "mirror", "exec"))
main(sys.argv[1:])
"""
"""What ``python -I -S -c START ROOT`` runs: it reads this file, as 4 bytes with its length and the text."""


def root_of(base: str, part: str) -> str:
    """Return the root of `part`, which is ``<component>-<node>``, as BEGIN calls it."""
    return f"{base}-{part}"
