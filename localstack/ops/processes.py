"""Processes that were started, told apart from any other that got the same number since."""

import os
import signal
import time


def identity(pid):
    """The number, and when it was started; None when nothing of that number runs."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            # The name may hold blanks and brackets; the fields after it do not.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else {"pid": pid, "started": int(fields[19])}


def session(leader):
    """Everything that runs in the session of this process."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.getsid(int(name)) == leader:
                    found.append(int(name))
            except OSError:
                pass
    return found


def end(started, seconds):
    """Asks the process to end, and kills what is left of its session when it did not in time."""
    if identity(started["pid"]) == started:
        os.kill(started["pid"], signal.SIGTERM)
        limit = time.monotonic() + seconds
        while identity(started["pid"]) == started and time.monotonic() < limit:
            time.sleep(0.05)
    elif identity(started["pid"]) is not None:
        return
    # A session's number is not given to another process while one of its members runs.
    for pid in session(started["pid"]):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
