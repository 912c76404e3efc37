"""Lambda by processes of this machine, in the place of containers. Chosen by `LAMBDA_RUNTIME_EXECUTOR=process`.

LocalStack keeps what it has: functions, versions, URLs, concurrency, asynchronous calls with their retries, roles and log
groups. It asks an executor to start an environment, to do one call in it, and to stop it; this is that executor. It takes
zips for the `provided` runtimes.
"""

import threading
from collections import deque

from localstack import config
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.invocation.plugins import RuntimeExecutorPlugin
from localstack.services.lambda_.invocation.runtime_executor import RuntimeExecutor

from standin import assignment, telemetry
from standin.environment import Environment

# What a function finds beside what LocalStack tells it.
PATH = "/usr/local/bin:/usr/bin:/bin"

# Calls of which the output is kept for LocalStack's own log.
KEPT_CALLS = 16


class ProcessExecutorPlugin(RuntimeExecutorPlugin):
    """How LocalStack finds the executor."""

    name = "process"

    def load(self, *_args, **_kwargs):
        assignment.install()
        telemetry.install()
        return ProcessExecutor


class ProcessExecutor(RuntimeExecutor):
    """One execution environment."""

    def __init__(self, id, function_version):
        super().__init__(id, function_version)
        self._environment = None
        self._logs = deque(maxlen=KEPT_CALLS)
        self._stopping = threading.Lock()

    def start(self, env_vars):
        function = self.function_version.config
        root = function.code.get_unzipped_code_location()
        variables = {name: str(value) for name, value in env_vars.items()}
        variables |= {"PATH": PATH, "LANG": "en_US.UTF-8", "LAMBDA_TASK_ROOT": str(root), "LAMBDA_RUNTIME_DIR": str(root)}
        self._environment = Environment(
            root, variables, function.timeout, config.LAMBDA_LIMITS_MAX_FUNCTION_PAYLOAD_SIZE_BYTES
        )
        self._environment.start()

    def stop(self):
        with self._stopping:
            environment, self._environment = self._environment, None
        if environment:
            self._logs.append(environment.written())
            environment.stop()

    def invoke(self, payload):
        request_id = payload["invoke-id"]
        answer, logs = self._environment.invoke(
            request_id, payload["invoked-function-arn"], payload.get("trace-id", ""), payload["payload"].encode()
        )
        self._logs.append(logs)
        return InvocationResult(request_id, answer.payload, is_error=answer.is_error, logs=logs)

    def get_address(self):
        return "127.0.0.1"

    def get_endpoint_from_executor(self):
        return "127.0.0.1"

    def get_runtime_endpoint(self):
        # Where a container would report to. A process reports to its own runtime API.
        return f"http://127.0.0.1:{config.GATEWAY_LISTEN[0].port}"

    def get_logs(self):
        return "".join(self._logs)

    @classmethod
    def prepare_version(cls, function_version):
        if function_version.config.code is None:
            raise ValueError("the process executor runs zips, not images")
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version):
        pass
