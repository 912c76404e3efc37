"""Deploys the template once more with the parameters that no other stack sets, and takes it down again.

    python -m ops.branches STACK

The new stack uses the table and the bucket of STACK, as one does that goes on with what another left behind.
`EvaluatorModels` is not among them: LocalStack makes nothing of that policy, and cannot delete a stack that has a list.
The stack is made anew each time: LocalStack cannot add the notices' rule to one that is there.
"""

import json
import sys
import time
import urllib.request
from urllib.parse import urlsplit

from ops import deploy, place

STACK = "procession-branches"

# Longest that it may take to be gone, in seconds.
DELETE_SECONDS = 60
# Longest that one answer of its function may take, in seconds.
ANSWER_SECONDS = 20

PUBLIC_URL = "https://processes.example.com/mcp"
NOTICE_EMAIL, ALARM_EMAIL = "notices@example.com", "alarms@example.com"
ALARMS = 7


def main():
    """Ends with what is wrong, if anything is; the stack is gone in any case."""
    used = place.read(place.STACKS / f"{sys.argv[1]}.json")
    if used is None:
        sys.exit(f"localstack: {sys.argv[1]} is not deployed; run localstack/deploy first")
    begun = time.monotonic()
    table, bucket = used["outputs"]["TableName"], used["outputs"]["BucketName"]
    formation = place.client("cloudformation")
    described = formation.describe_stacks(StackName=sys.argv[1])["Stacks"][0]
    parameters = {one["ParameterKey"]: one["ParameterValue"] for one in described["Parameters"]}
    problems, resources = [], {}
    try:
        outputs = deploy.deploy(STACK, parameters | {
            "PublicUrl": PUBLIC_URL,
            "RestoredTable": table,
            "KeptBucket": bucket,
            "NoticeEmail": NOTICE_EMAIL,
            "AlarmEmail": ALARM_EMAIL,
            "McpConcurrency": "0",
            "TimerConcurrency": "0",
        })
        resources = physical(formation)
        problems += wrong(outputs, resources, table, bucket)
    finally:
        resources = resources or physical(formation)
        formation.delete_stack(StackName=STACK)
        gone(formation)
        problems += kept(table, bucket, resources)
        discard(resources, table, bucket)
    if problems:
        sys.exit("\n".join(f"localstack: {STACK}: {problem}" for problem in problems))
    print(f"{STACK} had the other parameters and is gone again after {time.monotonic() - begun:.1f} s")


def physical(formation):
    """The name of each resource, by its name in the template."""
    try:
        described = formation.describe_stack_resources(StackName=STACK)["StackResources"]
    except formation.exceptions.ClientError:
        return {}
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in described if one.get("PhysicalResourceId")}


def wrong(outputs, resources, table, bucket):
    """What the stack does not have as its parameters say."""
    problems = []

    def expect(what, found, expected):
        if found != expected:
            problems.append(f"{what}: {found!r} instead of {expected!r}")

    expect("TableName", outputs["TableName"], table)
    expect("BucketName", outputs["BucketName"], bucket)
    expect("McpUrl", outputs["McpUrl"], PUBLIC_URL)
    expect("a table of its own in use", resources["Table"] == table, False)
    expect("a bucket of its own in use", resources["Bucket"] == bucket, False)

    functions = place.client("lambda")
    for name in (f"{STACK}-mcp", f"{STACK}-timer"):
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        for key, value in (("TABLE", table), ("BUCKET", bucket), ("URL", PUBLIC_URL)):
            expect(f"PROCESSION_{key} of {name}", variables[f"PROCESSION_{key}"], value)
        bound = functions.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions")
        expect(f"the bound of {name}", bound, None)

    roles = place.client("iam")
    for logical, resource in (("McpRole", bucket), ("McpRole", table), ("TimerRole", table)):
        role = resources[logical]
        stated = [
            json.dumps(roles.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"])
            for name in roles.list_role_policies(RoleName=role)["PolicyNames"]
        ]
        expect(f"{resource} in {logical}", any(resource in one for one in stated), True)

    topics = place.client("sns")
    for logical, address in (("NoticeTopic", NOTICE_EMAIL), ("AlarmTopic", ALARM_EMAIL)):
        found = topics.list_subscriptions_by_topic(TopicArn=resources[logical])["Subscriptions"]
        expect(f"who is told by {logical}", [(one["Protocol"], one["Endpoint"]) for one in found], [("email", address)])

    bus = place.client("events")
    rules = bus.list_rules(EventBusName=outputs["BusName"])["Rules"]
    expect("rules of the bus", [one["State"] for one in rules], ["ENABLED"])
    for rule in rules:
        targets = bus.list_targets_by_rule(Rule=rule["Name"], EventBusName=outputs["BusName"])["Targets"]
        expect("where the rule leads", [one["Arn"] for one in targets], [resources["NoticeTopic"]])

    alarms = place.client("cloudwatch").describe_alarms(AlarmNamePrefix=f"{STACK}-")["MetricAlarms"]
    expect("alarms", len(alarms), ALARMS)
    for alarm in alarms:
        for key in ("AlarmActions", "OKActions"):
            expect(f"{key} of {alarm['AlarmName']}", alarm[key], [resources["AlarmTopic"]])

    # No proxy that the environment may name.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    # LocalStack tells functions apart by the host, whose name is not one that every machine resolves to loopback.
    asked = urllib.request.Request(
        f"{place.ENDPOINT}/.well-known/oauth-protected-resource/mcp",
        headers={"Host": urlsplit(outputs["FunctionUrl"]).netloc},
    )
    with opener.open(asked, timeout=ANSWER_SECONDS) as answer:
        expect("the address that the endpoint says it has", json.load(answer).get("resource"), PUBLIC_URL)
    return problems


def gone(formation):
    """Waits until the stack is deleted."""
    limit = time.monotonic() + DELETE_SECONDS
    while any(
        one["StackName"] == STACK and one["StackStatus"] != "DELETE_COMPLETE"
        for one in formation.describe_stacks()["Stacks"]
    ):
        if time.monotonic() > limit:
            sys.exit(f"localstack: {STACK} is not deleted after {DELETE_SECONDS} seconds")
        time.sleep(0.25)


def kept(table, bucket, resources):
    """What went with the stack though it holds data, or guards what does."""
    problems = []
    tables, objects = place.client("dynamodb"), place.client("s3")
    for name in filter(None, (table, resources.get("Table"))):
        try:
            tables.describe_table(TableName=name)
        except tables.exceptions.ClientError as error:
            problems.append(f"the table {name} went with the stack: {error}")
    for name in filter(None, (bucket, resources.get("Bucket"))):
        try:
            if "aws:SecureTransport" not in objects.get_bucket_policy(Bucket=name)["Policy"]:
                problems.append(f"the bucket {name} has another policy")
        except objects.exceptions.ClientError as error:
            problems.append(f"the bucket {name} or its policy went with the stack: {error}")
    return problems


def discard(resources, table, bucket):
    """Deletes what the stack left behind of its own, and never what it was lent."""
    tables, objects = place.client("dynamodb"), place.client("s3")
    if (own := resources.get("Table")) and own != table:
        tables.delete_table(TableName=own)
    if (own := resources.get("Bucket")) and own != bucket:
        objects.delete_bucket(Bucket=own)


if __name__ == "__main__":
    main()
