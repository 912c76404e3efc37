"""What a function's processes write.

Invariant: whatever a process wrote before it answered, or before it ended, is in what `take` gives afterwards; nobody has
to guess how far a reader has come.
"""

import os
import select
import threading

# Most bytes that are kept of what nobody has taken yet. What is older is dropped: a process may write without an end.
KEPT_BYTES = 1_048_576
READ_BYTES = 65_536


class Output:
    """A pipe to write into, and what came out of it."""

    def __init__(self):
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._closed = False
        threading.Thread(target=self._read_on, name="standin-output", daemon=True).start()

    def take(self):
        """All that was written since it was last called, as text."""
        with self._lock:
            self._drain()
            text = self._kept.decode("utf-8", "replace")
            self._kept.clear()
        return text

    def close_writer(self):
        """This process's own end; the function's processes have theirs. Nothing can be started with it any more."""
        writer, self.writer = self.writer, None
        if writer is not None:
            os.close(writer)

    def _read_on(self):
        # A pipe that is full would stop the function, so somebody reads between calls too.
        poll = select.poll()
        poll.register(self.reader, select.POLLIN)
        while not self._closed:
            poll.poll()
            with self._lock:
                self._drain()
        os.close(self.reader)

    def _drain(self):
        while not self._closed:
            try:
                some = os.read(self.reader, READ_BYTES)
            except BlockingIOError:
                return
            if not some:
                self._closed = True
                return
            self._kept += some
            del self._kept[:-KEPT_BYTES]
