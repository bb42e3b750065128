# The keeper: parent of the agent and last parent of its tasks. It restarts a killed agent and writes down the exit code of
# every orphan that comes to it (the kernel hands a dead agent's tasks to the nearest "child subreaper"). It may never start,
# signal or judge a task. Invariant: a line is in `exits` before the zombie is reaped, so an orphan is always either a
# zombie in /proc or a line here. Run as text (`python -c`), so that an upgrade of the package on disk does not touch it;
# argv: 1 folder for `exits`, 2.. the agent's command line, to which the keeper's pid is added. An agent that exits with 3 found
# another one serving: this keeper then only waits for the tasks it is the parent of.
import ctypes
import os
import signal
import sys
import time

os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what the server was started with is not for the tasks
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
FOLDER, AGENT = sys.argv[1], sys.argv[2:]
EXITS = os.open(os.path.join(FOLDER, "exits"), os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
signal.signal(signal.SIGHUP, signal.SIG_IGN)


def start_ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return int(stat.read().rpartition(b")")[2].split()[19])


def spawn_agent() -> int:
    command = [*AGENT, str(os.getpid())]
    return os.posix_spawn(AGENT[0], command, os.environ, setsid=True, setsigdef=[signal.SIGPIPE, signal.SIGHUP])


agent, born = spawn_agent(), time.monotonic()
while True:
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        break  # another keeper's agent serves, and the last task that came here has ended
    if ended is None:
        continue
    pid = ended.si_pid
    if pid != agent:
        code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        os.write(EXITS, b"%d %d %d\n" % (pid, start_ticks(pid), code))
    os.waitpid(pid, 0)
    if pid == agent:
        if ended.si_code == os.CLD_EXITED and ended.si_status == 0:
            break  # asked to end, with nothing left to keep
        if ended.si_code == os.CLD_EXITED and ended.si_status == 3:
            agent = 0
            continue
        if ended.si_code == os.CLD_EXITED and time.monotonic() - born < 1.0:
            time.sleep(0.5)  # an agent that cannot even start must not spin; a killed one is back at once
        agent, born = spawn_agent(), time.monotonic()
