"""One process of a function, from its start to its end, and the Lambda runtime API that it talks to.

Invariants: a call that the process never fetched is known as such, so it can be given to another process without being done
twice; a process that has ended, or was ended, answers nothing any more, and with it ends its whole process group.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "/2018-06-01/runtime"


@dataclass(frozen=True)
class Call:
    """One invocation."""

    request_id: str
    arn: str
    trace: str
    payload: bytes
    deadline_millis: int


@dataclass(frozen=True)
class Answer:
    """What came of it."""

    payload: bytes
    is_error: bool


class Process:
    """Starts with the object; `end` ends it."""

    def __init__(self, bootstrap, root, variables, output, answer_bytes):
        self.changed = threading.Condition()
        self.ready = False
        self.init_error = None
        self.status = None
        self._answer_bytes = answer_bytes
        self._offered = None
        self._current = None
        self._answer = None
        self._closing = False
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.process = self
        port = self._server.server_address[1]
        try:
            # A group of its own, so that whatever it starts ends with it.
            self._child = subprocess.Popen(
                [bootstrap], cwd=root, env={**variables, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}"},
                stdin=subprocess.DEVNULL, stdout=output.writer, stderr=output.writer, process_group=0,
            )
        except OSError:
            self._server.server_close()
            raise
        threading.Thread(target=self._server.serve, name="standin-runtime", daemon=True).start()
        threading.Thread(target=self._watch, name="standin-watch", daemon=True).start()

    def wait_ready(self, seconds):
        """Whether it asked for a call in time."""
        with self.changed:
            self.changed.wait_for(lambda: self.ready or self._over(), seconds)
            return self.ready and not self._over()

    def call(self, call, seconds):
        """The answer to the call, or None when there was none in time or the process ended."""
        with self.changed:
            self._offered, self._answer = call, None
            self.changed.notify_all()
            self.changed.wait_for(lambda: self._answer is not None or self._over(), seconds)
            answer, self._answer, self._current = self._answer, None, None
            return answer

    def take_back(self):
        """Whether the process had not fetched the call that it was offered; it will not any more."""
        with self.changed:
            offered, self._offered = self._offered, None
            return offered is not None

    @property
    def alive(self):
        """Whether it may be offered a call."""
        with self.changed:
            return not self._over()

    def end(self):
        """Ends the process and everything that it started, and returns when it is gone."""
        with self.changed:
            self._closing = True
            self.changed.notify_all()
        try:
            os.killpg(self._child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._child.wait()
        self._server.close()

    def _over(self):
        return self._closing or self.status is not None or self.init_error is not None

    def _watch(self):
        status = self._child.wait()
        with self.changed:
            self.status = status
            self.changed.notify_all()

    # What the handler does, in the handler's threads.

    def next_call(self):
        """Waits for a call to be offered, and takes it; None when there will be none."""
        with self.changed:
            self.ready = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self._offered is not None or self._over())
            if self._over():
                return None
            self._current, self._offered = self._offered, None
            return self._current

    def answered(self, request_id, payload, is_error):
        """The HTTP status for this answer."""
        with self.changed:
            if self._current is None or self._current.request_id != request_id or self._over():
                return 400
            status = 202
            if len(payload) > self._answer_bytes:
                text = f"Response payload size exceeded maximum allowed payload size ({self._answer_bytes} bytes)."
                payload, is_error, status = error("Function.ResponseSizeTooLarge", text), True, 413
            self._answer = Answer(payload, is_error)
            self.changed.notify_all()
            return status

    def failed_to_start(self, payload):
        """It said so itself."""
        with self.changed:
            self.init_error = payload
            self.changed.notify_all()


def error(kind, message):
    """An error as Lambda words it."""
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def serve(self):
        """Until it is closed. The library's own loop wakes up every moment to see whether it is to end."""
        while True:
            try:
                request, address = self.get_request()
            except OSError:
                return
            self.process_request(request, address)

    def close(self):
        """Ends `serve`: closing a socket alone does not wake who waits on it."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.server_close()

    def handle_error(self, request, client_address):
        """A process that ended took its connections with it; anything else is told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path != f"{VERSION}/invocation/next":
            return self._send(404)
        call = self.server.process.next_call()
        if call is None:
            self.close_connection = True
            return None
        return self._send(200, call.payload, {
            "Lambda-Runtime-Aws-Request-Id": call.request_id,
            "Lambda-Runtime-Deadline-Ms": str(call.deadline_millis),
            "Lambda-Runtime-Invoked-Function-Arn": call.arn,
            "Lambda-Runtime-Trace-Id": call.trace,
        })

    def do_POST(self):
        body = self._body()
        process = self.server.process
        if self.path == f"{VERSION}/init/error":
            process.failed_to_start(body)
            return self._send(202, b'{"status":"OK"}')
        match self.path.removeprefix(f"{VERSION}/invocation/").split("/"):
            case [request_id, "response" | "error" as what]:
                status = process.answered(request_id, body, what == "error")
                text = b'{"status":"OK"}' if status == 202 else error("InvalidRequestID", "no such call is under way")
                return self._send(status, text)
        return self._send(404)

    def _body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _send(self, status, body=b"{}", headers=None):
        self.send_response_only(status)
        for name, value in {**(headers or {}), "Content-Type": "application/json", "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Requests are not logged."""
