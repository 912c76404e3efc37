"""The pump and its deliveries, with schedules in memory and a clock that is set."""

import threading
import unittest
from types import SimpleNamespace

from botocore.exceptions import ClientError
from standin.deliver import Delivery, deliver
from standin.pump import Pump, due_at, period

NOON = due_at("at(2026-11-30T12:00:00)")
LAMBDA = "arn:aws:lambda:us-east-1:000000000000:function:timer"
QUEUE = "arn:aws:sqs:us-east-1:000000000000:dead"


def schedule(name, expression, **changes):
    """A schedule as moto keeps it."""
    made = SimpleNamespace(
        name=name, arn=f"arn:aws:scheduler:us-east-1:000000000000:schedule/g/{name}", schedule_expression=expression,
        state="ENABLED", target={"Arn": LAMBDA, "RoleArn": "role", "Input": name}, action_after_completion="DELETE",
        last_modified_date=1.0,
    )
    vars(made).update(changes)
    return made


class PumpTest(unittest.TestCase):
    """One group, a clock, and what was sent."""

    def setUp(self):
        self.now = NOON
        self.sent = []
        self.outcomes = []
        self.group = SimpleNamespace(schedules={})
        self.pump = Pump(lambda: [self.group], send=self.send, now=lambda: self.now)
        self.addCleanup(self.pump.stop)

    def send(self, delivery, now):
        """Takes note."""
        self.sent.append((delivery.target["Input"], delivery.scheduled, now))
        return self.outcomes.pop(0) if self.outcomes else None

    def add(self, *args, **changes):
        """A schedule in the group."""
        made = schedule(*args, **changes)
        self.group.schedules[made.name] = made
        return made

    def look(self, at):
        """Looks at this many seconds after noon, and waits for what that started. Gives what was sent."""
        self.now, before = NOON + at, len(self.sent)
        self.pump.look()
        idle = threading.Barrier(9)
        for _ in range(8):
            self.pump._pool.submit(idle.wait, 5)
        idle.wait(5)
        return [name for name, _, _ in self.sent[before:]]

    def test_a_time_comes_once_and_never_early(self):
        self.add("one", "at(2026-11-30T12:00:10)")
        self.assertEqual(self.look(9.99), [])
        self.assertEqual(self.look(10), ["one"])
        self.assertEqual(self.group.schedules, {}, "deleted after completion")
        self.assertEqual(self.look(11), [])

    def test_without_delete_it_stays_and_does_not_come_again(self):
        self.add("one", "at(2026-11-30T12:00:00)", action_after_completion="NONE")
        self.assertEqual(self.look(0), ["one"])
        self.assertEqual(self.look(5), [])
        self.assertIn("one", self.group.schedules)

    def test_one_that_is_made_again_under_its_name_comes_again(self):
        self.add("one", "at(2026-11-30T12:00:00)")
        self.look(0)
        self.add("one", "at(2026-11-30T12:00:05)", last_modified_date=2.0)
        self.assertEqual(self.look(4), [])
        self.assertEqual(self.look(5), ["one"])

    def test_a_deleted_or_disabled_one_never_comes(self):
        self.add("off", "at(2026-11-30T12:00:00)", state="DISABLED")
        self.add("gone", "at(2026-11-30T12:00:05)")
        self.assertEqual(self.look(0), [])
        del self.group.schedules["gone"]
        self.assertEqual(self.look(60), [])

    def test_a_rate_comes_at_once_and_then_each_time(self):
        self.add("rate", "rate(1 minute)")
        self.assertEqual([self.look(at) for at in (0, 30, 59, 60, 61, 121)], [["rate"], [], [], ["rate"], [], ["rate"]])
        self.assertIn("rate", self.group.schedules, "it is never complete")

    def test_what_is_to_be_tried_again_is_and_is_kept_until_then(self):
        self.outcomes = [NOON + 2, NOON + 6]
        self.add("one", "at(2026-11-30T12:00:00)")
        self.assertEqual([self.look(at) for at in (0, 1, 2, 3)], [["one"], [], ["one"], []])
        self.assertIn("one", self.group.schedules)
        self.assertEqual(self.look(6), ["one"])
        self.assertEqual(self.group.schedules, {})
        self.assertEqual({scheduled for _, scheduled, _ in self.sent}, {NOON}, "always for the same time")

    def test_what_was_deleted_is_not_tried_again(self):
        self.outcomes = [NOON + 2]
        self.add("one", "at(2026-11-30T12:00:00)")
        self.look(0)
        del self.group.schedules["one"]
        self.assertEqual(self.look(2), [])

    def test_expressions(self):
        self.assertEqual(due_at("at(1970-01-02T00:00:01)"), 86_401)
        self.assertEqual([period(f"rate({text})") for text in ("1 minute", "5 minutes", "2 hours", "1 day")], [60, 300, 7_200, 86_400])
        self.assertIsNone(period("rate(0 minutes)"))
        self.assertIsNone(due_at("cron(0 12 * * ? *)"))


class DeliverTest(unittest.TestCase):
    """Deliveries to clients that answer as they are told."""

    def setUp(self):
        self.errors = []
        self.calls = []
        policy = {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 60}
        target = {"Arn": LAMBDA, "RoleArn": "role", "Input": "x", "RetryPolicy": policy, "DeadLetterConfig": {"Arn": QUEUE}}
        self.delivery = Delivery("arn:schedule", "us-east-1", target, NOON)

    def clients(self, _delivery, service):
        """A client that takes note of its calls."""

        def call(**arguments):
            self.calls.append((service, arguments))
            if service == "lambda_" and self.errors:
                code, status = self.errors.pop(0)
                raise ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Invoke")
            return {"QueueUrl": "url"}

        return SimpleNamespace(invoke=call, get_queue_url=call, send_message=call)

    def letters(self):
        """What was filed."""
        sent = [arguments for _, arguments in self.calls if "MessageBody" in arguments]
        return [{key: value["StringValue"] for key, value in one["MessageAttributes"].items()} for one in sent]

    def test_a_function_is_called_and_not_waited_for(self):
        self.assertIsNone(deliver(self.delivery, NOON, self.clients))
        self.assertEqual(self.calls, [("lambda_", {"FunctionName": LAMBDA, "InvocationType": "Event", "Payload": b"x"})])

    def test_trouble_of_the_service_is_tried_again_later_each_time(self):
        self.errors = [("ServiceException", 500), ("TooManyRequestsException", 429)]
        self.assertEqual(deliver(self.delivery, NOON, self.clients), NOON + 1)
        self.assertEqual(deliver(self.delivery, NOON + 1, self.clients), NOON + 3)
        self.assertIsNone(deliver(self.delivery, NOON + 3, self.clients))
        self.assertEqual(self.letters(), [])

    def test_tries_have_an_end_and_then_there_is_a_letter(self):
        self.errors = [("ServiceException", 500)] * 3
        times = [deliver(self.delivery, NOON, self.clients) for _ in range(3)]
        self.assertEqual(times, [NOON + 1, NOON + 2, None])
        letter = self.letters()[0]
        self.assertEqual((letter["ERROR_CODE"], letter["RETRY_ATTEMPTS"]), ("ServiceException", "2"))
        self.assertEqual(letter["EXHAUSTED_RETRY_CONDITION"], "MaximumRetryAttempts")
        self.assertEqual(letter["SCHEDULED_TIME"], "2026-11-30T12:00:00Z")

    def test_so_has_the_age(self):
        self.errors = [("ServiceException", 500)]
        self.assertIsNone(deliver(self.delivery, NOON + 60, self.clients))
        self.assertEqual(self.letters()[0]["EXHAUSTED_RETRY_CONDITION"], "MaximumEventAgeInSeconds")

    def test_what_no_repetition_helps_is_filed_at_once(self):
        self.errors = [("ResourceNotFoundException", 404)]
        self.assertIsNone(deliver(self.delivery, NOON, self.clients))
        self.assertEqual(self.letters()[0]["ERROR_CODE"], "ResourceNotFoundException")
        self.assertNotIn("EXHAUSTED_RETRY_CONDITION", self.letters()[0])

    def test_a_queue_can_be_a_target(self):
        self.delivery.target["Arn"] = QUEUE
        deliver(self.delivery, NOON, self.clients)
        self.assertEqual(self.calls[-1][1]["MessageBody"], "x")

    def test_other_targets_are_told_of(self):
        self.delivery.target["Arn"] = "arn:aws:sns:us-east-1:000000000000:topic"
        deliver(self.delivery, NOON, self.clients)
        self.assertIn("sns", self.letters()[0]["ERROR_MESSAGE"])


if __name__ == "__main__":
    unittest.main()
