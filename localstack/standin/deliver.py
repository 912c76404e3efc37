"""One call that a schedule makes: delivered, tried again by its retry policy, or filed as a dead letter.

A Lambda function is called asynchronously, as Scheduler does it: what the function makes of the call is Lambda's matter.
"""

import json
import logging
from dataclasses import dataclass, field

from botocore.exceptions import ClientError

LOG = logging.getLogger(__name__)

# Longest pause before another try, in seconds; the first is one second, each then twice as long.
PAUSE_SECONDS = 60

# What EventBridge Scheduler does when it is told nothing else.
ATTEMPTS = 185
AGE_SECONDS = 86_400


@dataclass
class Delivery:
    """One time of one schedule."""

    arn: str
    region: str
    target: dict
    scheduled: float
    tries: int = field(default=0)

    @classmethod
    def of(cls, schedule, scheduled):
        """What has to be delivered for a schedule as it is now."""
        return cls(schedule.arn, schedule.arn.split(":")[3], dict(schedule.target), scheduled)


def deliver(delivery, now, connect=None):
    """Tries once. Gives the time of the next try, or None when nothing is left to do."""
    clients = connect or _connect
    target = delivery.target
    try:
        delivery.tries += 1
        _call(clients, delivery, target)
        return None
    except ClientError as error:
        code, why = error.response["Error"].get("Code", ""), str(error)
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
        retryable = status >= 500 or status == 429 or "Throttl" in code or code == "TooManyRequestsException"
    except Exception as error:
        code, why, retryable = "INTERNAL_ERROR", str(error), True
    policy = target.get("RetryPolicy") or {}
    pause = min(2 ** (delivery.tries - 1), PAUSE_SECONDS)
    if not retryable:
        condition = None
    elif delivery.tries > policy.get("MaximumRetryAttempts", ATTEMPTS):
        condition = "MaximumRetryAttempts"
    elif now + pause - delivery.scheduled > policy.get("MaximumEventAgeInSeconds", AGE_SECONDS):
        condition = "MaximumEventAgeInSeconds"
    else:
        LOG.info("%s: %s; tried again in %s s", delivery.arn, why, pause)
        return now + pause
    _bury(clients, delivery, code, why, condition)
    return None


def _call(clients, delivery, target):
    service = target["Arn"].split(":")[2]
    payload = target.get("Input") or "{}"
    if service == "lambda":
        client = clients(delivery, "lambda_")
        client.invoke(FunctionName=target["Arn"], InvocationType="Event", Payload=payload.encode())
    elif service == "sqs":
        _send(clients(delivery, "sqs"), target["Arn"], payload, {})
    else:
        message = f"calls of {service} are not delivered here"
        raise ClientError({"Error": {"Code": "ValidationException", "Message": message},
                           "ResponseMetadata": {"HTTPStatusCode": 400}}, "Deliver")


def _bury(clients, delivery, code, why, condition):
    queue = (delivery.target.get("DeadLetterConfig") or {}).get("Arn")
    LOG.warning("%s: given up after %s tries: %s", delivery.arn, delivery.tries, why)
    if not queue:
        return
    attributes = {
        "ERROR_CODE": code or "UNKNOWN",
        "ERROR_MESSAGE": why[:1000] or "unknown",
        "RETRY_ATTEMPTS": str(delivery.tries - 1),
        "SCHEDULED_TIME": _text(delivery.scheduled),
        "SCHEDULE_ARN": delivery.arn,
        "TARGET_ARN": delivery.target["Arn"],
    }
    if condition:
        attributes["EXHAUSTED_RETRY_CONDITION"] = condition
    _send(clients(delivery, "sqs"), queue, delivery.target.get("Input") or "{}", attributes)


def _send(client, arn, body, attributes):
    account, name = arn.split(":")[4:6]
    url = client.get_queue_url(QueueName=name, QueueOwnerAWSAccountId=account)["QueueUrl"]
    values = {key: {"DataType": "String", "StringValue": value} for key, value in attributes.items()}
    client.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=values)


def _connect(delivery, service):
    """A client of LocalStack with the role of the schedule."""
    from localstack.aws.connect import connect_to

    clients = connect_to.with_assumed_role(
        role_arn=delivery.target["RoleArn"], service_principal="scheduler", region_name=delivery.region
    )
    return getattr(clients, service)


def _text(seconds):
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
