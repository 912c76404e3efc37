"""An execution environment, with small programs in the place of a function."""

import json
import os
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from standin.environment import Environment

# Asks for calls and does what each says. Every process of it says once that it begins.
PROGRAM = """#!{python}
import json, os, signal, subprocess, sys, time, urllib.request
api = "http://" + os.environ["AWS_LAMBDA_RUNTIME_API"] + "/2018-06-01/runtime"
def post(path, value):
    try:
        urllib.request.urlopen(api + path, json.dumps(value).encode()).read()
    except urllib.error.HTTPError as error:
        print("refused", error.code, flush=True)
print("begins", flush=True)
{before}
while True:
    with urllib.request.urlopen(api + "/invocation/next") as answer:
        id, call = answer.headers["Lambda-Runtime-Aws-Request-Id"], json.load(answer)
        told = {{name: answer.headers["Lambda-Runtime-" + name] for name in ("Deadline-Ms", "Invoked-Function-Arn", "Trace-Id")}}
    match call["do"]:
        case "echo": post(f"/invocation/{{id}}/response", {{**call, **told, "pid": os.getpid(), "root": os.environ["LAMBDA_TASK_ROOT"]}})
        case "say":
            print(call["text"], end="", flush=True)
            post(f"/invocation/{{id}}/response", None)
        case "fail": post(f"/invocation/{{id}}/error", {{"errorType": "Mine", "errorMessage": "no"}})
        case "exit": os._exit(call["status"])
        case "abort": os.kill(os.getpid(), signal.SIGABRT)
        case "hang":
            child = subprocess.Popen(["sleep", "600"])
            print("child", child.pid, flush=True)
            time.sleep(600)
        case "large": post(f"/invocation/{{id}}/response", "x" * call["bytes"])
        case "stray":
            post("/invocation/another/response", 1)
            post(f"/invocation/{{id}}/response", 2)
        case "answer and die":
            post(f"/invocation/{{id}}/response", 1)
            os._exit(3)
"""


class EnvironmentTest(unittest.TestCase):
    """Each test has an environment of its own."""

    def environment(self, before="", timeout=5, log_format="JSON", answer_bytes=1000):
        """An environment of a function that does this before it asks for calls."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        program = Path(folder.name, "bootstrap")
        program.write_text(PROGRAM.format(python=sys.executable, before=before))
        variables = {"PATH": os.environ["PATH"], "LAMBDA_TASK_ROOT": folder.name, "AWS_LAMBDA_LOG_FORMAT": log_format}
        environment = Environment(folder.name, variables, timeout, answer_bytes)
        self.addCleanup(environment.stop)
        environment.start()
        return environment

    def call(self, environment, request_id="r-1", **what):
        """The answer's JSON, whether it is an error, and the lines that were written."""
        answer, logs = environment.invoke(request_id, "arn:f", "Root=1", json.dumps(what).encode())
        return json.loads(answer.payload), answer.is_error, logs

    def test_a_process_answers_one_call_after_another(self):
        environment = self.environment()
        first, failed, logs = self.call(environment, do="echo", text="å")
        second, _, later = self.call(environment, request_id="r-2", do="echo")
        self.assertFalse(failed)
        self.assertEqual(first["text"], "å")
        self.assertEqual(first["pid"], second["pid"], "warm")
        self.assertEqual((first["Invoked-Function-Arn"], first["Trace-Id"]), ("arn:f", "Root=1"))
        self.assertEqual(first["root"], self.root)
        self.assertAlmostEqual(int(first["Deadline-Ms"]) / 1000, time.time() + 5, delta=2)
        self.assertIn("begins", logs)
        self.assertNotIn("begins", later)

    def test_what_it_wrote_stands_between_start_and_report(self):
        environment = self.environment()
        _, _, logs = self.call(environment, do="say", text="one\ntwo\n" + "x" * 200_000 + "\n")
        lines = logs.splitlines()
        self.assertEqual(lines[0], "begins")
        start, report = json.loads(lines[1]), json.loads(lines[-1])
        self.assertEqual((start["type"], start["record"]["requestId"]), ("platform.start", "r-1"))
        self.assertEqual(lines[2:4], ["one", "two"])
        self.assertEqual(len(lines[4]), 200_000)
        self.assertEqual((report["type"], report["record"]["status"]), ("platform.report", "success"))
        self.assertIn("initDurationMs", report["record"]["metrics"])
        self.assertNotIn("initDurationMs", self.call(environment, do="say", text="x\n")[2])

    def test_the_other_log_format(self):
        lines = self.call(self.environment(log_format="Text"), do="say", text="one\n")[2].splitlines()
        self.assertEqual(lines[:4], ["begins", "START RequestId: r-1 Version: $LATEST", "one", "END RequestId: r-1"])
        self.assertTrue(lines[4].startswith("REPORT RequestId: r-1"))

    def test_an_error_of_the_function_leaves_it_warm(self):
        environment = self.environment()
        pid = self.call(environment, do="echo")[0]["pid"]
        error, failed, logs = self.call(environment, do="fail")
        self.assertEqual((error, failed), ({"errorType": "Mine", "errorMessage": "no"}, True))
        self.assertIn('"status": "error"', logs)
        self.assertEqual(self.call(environment, do="echo")[0]["pid"], pid)

    def test_a_call_without_an_end_times_out_and_the_next_one_is_cold(self):
        environment = self.environment(timeout=3)
        pid = self.call(environment, do="echo")[0]["pid"]
        begun = time.monotonic()
        error, failed, logs = self.call(environment, do="hang")
        self.assertLess(time.monotonic() - begun, 6)
        self.assertTrue(failed)
        message = "RequestId: r-1 Error: Task timed out after 3.00 seconds"
        self.assertEqual(error, {"errorType": "Sandbox.Timedout", "errorMessage": message})
        self.assertIn('"status": "timeout"', logs)
        child = int(next(line for line in logs.splitlines() if line.startswith("child")).split()[1])
        self.assertTrue(gone(pid) and gone(child), "with everything that it started")
        answer, failed, logs = self.call(environment, do="echo")
        self.assertFalse(failed)
        self.assertNotEqual(answer["pid"], pid)
        self.assertIn("begins", logs)
        self.assertIn("initDurationMs", logs)

    def test_a_crash_is_an_error_of_its_call_and_the_next_one_is_cold(self):
        environment = self.environment()
        for what, text in (({"do": "exit", "status": 7}, "exit status 7"), ({"do": "abort"}, "signal: aborted")):
            pid = self.call(environment, do="echo")[0]["pid"]
            error, failed, _ = self.call(environment, **what)
            self.assertTrue(failed)
            self.assertEqual(error["errorType"], "Runtime.ExitError")
            self.assertEqual(error["errorMessage"], f"RequestId: r-1 Error: Runtime exited with error: {text}")
            self.assertNotEqual(self.call(environment, do="echo")[0]["pid"], pid)

    def test_a_death_between_calls_fails_neither(self):
        environment = self.environment()
        for _ in range(5):
            self.assertEqual(self.call(environment, do="answer and die")[:2], (1, False))
            self.assertFalse(self.call(environment, do="echo")[1])

    def test_a_start_that_fails_is_tried_again_by_the_call(self):
        environment = self.environment(before='print("no settings", flush=True); sys.exit(1)')
        error, failed, logs = self.call(environment, do="echo")
        self.assertTrue(failed)
        self.assertEqual(error["errorMessage"], "RequestId: r-1 Error: Runtime exited with error: exit status 1")
        self.assertEqual(logs.count("no settings"), 2)

    def test_a_start_can_say_itself_why_it_failed(self):
        environment = self.environment(before='post("/init/error", {"errorType": "Init", "errorMessage": "no"}); time.sleep(9)')
        self.assertEqual(self.call(environment, do="echo")[:2], ({"errorType": "Init", "errorMessage": "no"}, True))

    def test_a_slow_start_takes_the_time_of_the_call(self):
        environment = self.environment(before='if os.path.exists("slow"): time.sleep(600)', timeout=3)
        self.call(environment, do="exit", status=0)
        Path(self.root, "slow").touch()
        self.assertEqual(self.call(environment, do="echo")[0]["errorType"], "Sandbox.Timedout")
        Path(self.root, "slow").unlink()
        self.assertFalse(self.call(environment, do="echo")[1])

    def test_an_answer_has_its_limit(self):
        environment = self.environment()
        self.assertFalse(self.call(environment, do="large", bytes=998)[1])
        error, failed, logs = self.call(environment, do="large", bytes=999)
        self.assertEqual((error["errorType"], failed), ("Function.ResponseSizeTooLarge", True))
        # The caller has its error as soon as the answer is seen to be too large; what the function makes of the refusal may
        # be written just before that or go with the next call.
        logs += self.call(environment, do="echo")[2]
        self.assertIn("refused 413", logs)

    def test_an_answer_to_another_call_is_refused(self):
        answer, _, logs = self.call(self.environment(), do="stray")
        self.assertEqual(answer, 2)
        self.assertIn("refused 400", logs)

    def test_stopping_ends_the_call_under_way(self):
        environment = self.environment(timeout=60)
        pid = self.call(environment, do="echo")[0]["pid"]
        answers = []
        caller = threading.Thread(target=lambda: answers.append(self.call(environment, do="hang")))
        caller.start()
        time.sleep(0.3)
        environment.stop()
        caller.join(5)
        self.assertEqual(answers[0][0]["errorType"], "ServiceException")
        self.assertTrue(gone(pid))

    def test_several_at_once(self):
        environments = [self.environment() for _ in range(8)]
        answers = [None] * len(environments)

        def run(number):
            answers[number] = [self.call(environments[number], do="echo", n=n)[0] for n in range(20)]

        callers = [threading.Thread(target=run, args=(number,)) for number in range(len(environments))]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(30)
        self.assertEqual([[one["n"] for one in each] for each in answers], [list(range(20))] * len(environments))
        self.assertEqual(len({each[0]["pid"] for each in answers}), len(environments))


def gone(pid):
    """Whether nothing of this number runs; it may take a moment."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


if __name__ == "__main__":
    unittest.main()
