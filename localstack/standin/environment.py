"""One execution environment of a function: a process for as long as it is well, and a new one when it is not.

As on AWS: a call that runs out of time is answered with that and its process killed; a process that crashes is an error of
the call it was at; the next call gets a new process, its start being part of that call. What was written goes with the call.
"""

import json
import os
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from standin.output import Output
from standin.runtime import Answer, Call, Process, error

# Longest that a process is waited for before there is a call, in seconds. One that is slower has the time of that call.
INIT_SECONDS = 10


class Environment:
    """Takes one call at a time."""

    def __init__(self, root, variables, timeout_seconds, answer_bytes):
        self._root = str(root)
        self._bootstrap = str(Path(root) / "bootstrap")
        self._variables = variables
        self._timeout = timeout_seconds
        self._answer_bytes = answer_bytes
        self._json = variables.get("AWS_LAMBDA_LOG_FORMAT") == "JSON"
        self._output = Output()
        self._process = None
        self._init_millis = None
        # Once it is stopped, a call that is under way is not given to a new process.
        self._lock = threading.Lock()
        self._stopped = False

    def start(self):
        """Starts a process ahead of the first call. That it could not is said by the call, which tries again."""
        os.chmod(self._bootstrap, 0o755)
        self._started(INIT_SECONDS)

    def invoke(self, request_id, arn, trace, payload):
        """The answer, and what was written up to it."""
        begun = time.monotonic()
        end = begun + self._timeout
        lines = [self._output.take(), self._line("start", request_id)]
        deadline = int((time.time() + self._timeout) * 1000)
        call = Call(request_id, arn, trace, payload, deadline)
        answer, status = self._answer(call, end)
        lines += [self._output.take(), self._line("report", request_id, status, time.monotonic() - begun)]
        return answer, "".join(lines)

    def stop(self):
        """Ends it, with a call that may be under way."""
        with self._lock:
            self._stopped = True
            process, self._process = self._process, None
        if process:
            process.end()
        self._output.close_writer()

    def written(self):
        """What was written that went with no call."""
        return self._output.take()

    def _answer(self, call, end):
        while True:
            process = self._process
            if process is None or not process.alive:
                process = self._started(end - time.monotonic())
            if process is None:
                return Answer(error("ServiceException", "the environment was stopped"), True), "failure"
            answer = None
            if process.wait_ready(max(0, end - time.monotonic())):
                answer = process.call(call, max(0, end - time.monotonic()))
            if answer is not None:
                return answer, "error" if answer.is_error else "success"
            # It ended between two calls: it has not seen this one, so this one is not its fault.
            if process.ready and not process.alive and process.take_back() and time.monotonic() < end:
                continue
            said, died = process.init_error, process.status
            process.end()
            if self._stopped:
                return Answer(error("ServiceException", "the environment was stopped"), True), "failure"
            if said is not None:
                return Answer(said, True), "error"
            if died is None:
                text = f"RequestId: {call.request_id} Error: Task timed out after {self._timeout:.2f} seconds"
                return Answer(error("Sandbox.Timedout", text), True), "timeout"
            text = f"RequestId: {call.request_id} Error: Runtime exited with error: {exit_text(died)}"
            return Answer(error("Runtime.ExitError", text), True), "failure"

    def _started(self, seconds):
        with self._lock:
            if self._stopped:
                return None
            if self._process:
                self._process.end()
            begun = time.monotonic()
            self._process = process = Process(
                self._bootstrap, self._root, self._variables, self._output, self._answer_bytes
            )
        process.wait_ready(max(0, seconds))
        self._init_millis = (time.monotonic() - begun) * 1000
        return process

    def _line(self, what, request_id, status=None, seconds=None):
        if not self._json:
            if what == "start":
                return f"START RequestId: {request_id} Version: $LATEST\n"
            millis = f"{seconds * 1000:.2f} ms"
            return f"END RequestId: {request_id}\nREPORT RequestId: {request_id}\tDuration: {millis}\tStatus: {status}\n"
        record = {"requestId": request_id, "version": "$LATEST"}
        if what == "report":
            metrics = {"durationMs": round(seconds * 1000, 3)}
            if self._init_millis is not None:
                metrics["initDurationMs"], self._init_millis = round(self._init_millis, 3), None
            record = {"requestId": request_id, "metrics": metrics, "status": status}
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps({"time": at, "type": f"platform.{what}", "record": record}) + "\n"


def exit_text(status):
    """How a process ended, as Lambda words it."""
    if status >= 0:
        return f"exit status {status}"
    return f"signal: {signal.strsignal(-status).lower()}"
