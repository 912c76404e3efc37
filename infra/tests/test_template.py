"""The template keeps every rule; and every rule finds what it is there to find, in a copy that was spoiled on purpose."""

import copy
import json
import re
import unittest
from pathlib import Path

from cfnlint.decode.cfn_yaml import load

import rules

INFRA = Path(__file__).resolve().parent.parent
TEMPLATE = json.loads(json.dumps(load(str(INFRA / "template.yaml"))))


def at(template, path):
    """What stands at a path of keys and indexes, joined by dots."""
    for key in path.split("."):
        template = template[int(key)] if isinstance(template, list) else template[key]
    return template


def put(path, value):
    """A spoiler that puts a value."""
    def spoil(template):
        head, _, key = path.rpartition(".")
        place = at(template, head)
        place[int(key) if isinstance(place, list) else key] = value
    return spoil


def drop(path):
    """A spoiler that takes something away."""
    def spoil(template):
        head, _, key = path.rpartition(".")
        place = at(template, head)
        del place[int(key) if isinstance(place, list) else key]
    return spoil


MCP = "Resources.McpRole.Properties.Policies.0.PolicyDocument.Statement"
MCP_ENV = "Resources.McpFunction.Properties.Environment.Variables"
TRUST = "Resources.ScheduleRole.Properties.AssumeRolePolicyDocument.Statement.0"
TABLE, BUCKET = "Resources.Table.Properties", "Resources.Bucket.Properties"
MANY_MODELS = r"^$|^arn:aws:bedrock:.*$"

# The rule that must object, what is spoiled, and how.
SPOILED = [
    ("policies", "all actions", put(f"{MCP}.1.Action", "*")),
    ("policies", "all actions of a service", put(f"{MCP}.1.Action", ["dynamodb:GetItem", "dynamodb:*"])),
    ("policies", "some actions of a service", put(f"{MCP}.1.Action", "dynamodb:Get*")),
    ("policies", "an action of unknown letters", put(f"{MCP}.1.Action", "dynamodb:Get????")),
    ("policies", "all but an action", put(f"{MCP}.1.NotAction", "dynamodb:Scan")),
    ("policies", "all but a resource", put(f"{MCP}.1.NotResource", "arn:aws:s3:::other")),
    ("policies", "no resource", drop(f"{MCP}.1.Resource")),
    ("policies", "all resources", put(f"{MCP}.1.Resource", "*")),
    ("policies", "all resources on one side", put(f"{MCP}.1.Resource", {"Fn::If": ["HasRestoredTable", "*", "arn:x"]})),
    ("policies", "all objects", put(f"{MCP}.2.Resource", {"Fn::Sub": "${Bucket.Arn}/*"})),
    ("policies", "objects of any short name", put(f"{MCP}.2.Resource", {"Fn::Sub": "${Bucket.Arn}/????"})),
    ("policies", "a wildcard in the middle", put(f"{MCP}.6.Resource", {
        "Fn::Sub": "arn:aws:secretsmanager:*:${AWS::AccountId}:secret:${AWS::StackName}-claims-??????"})),
    ("policies", "a wildcard account", put(f"{MCP}.6.Resource", {
        "Fn::Sub": "arn:aws:secretsmanager:eu-west-1:????????????:secret:${AWS::StackName}-claims-??????"})),
    ("policies", "a longer suffix", put(f"{MCP}.6.Resource", {
        "Fn::Sub": "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:1:secret:${AWS::StackName}-claims-???????"})),
    ("policies", "joined resources", put(f"{MCP}.1.Resource", {"Fn::Join": ["", ["arn:aws:s3:::", "*"]]})),
    ("policies", "more than writing logs", put(f"{MCP}.0.Action", ["logs:PutLogEvents", "logs:GetLogEvents"])),
    ("policies", "a parameter that brings wildcards", put("Parameters.EvaluatorModels.AllowedPattern", MANY_MODELS)),
    ("policies", "a secret's parameter without a pattern", drop("Parameters.EvaluatorSecret.AllowedPattern")),
    ("policies", "a table's parameter that brings wildcards", put("Parameters.RestoredTable.AllowedPattern", "^.*$")),
    ("policies", "a bucket's parameter that brings wildcards", put("Parameters.KeptBucket.AllowedPattern", "^.*$")),
    ("policies", "everybody", put("Resources.BucketPolicy.Properties.PolicyDocument.Statement.0.Effect", "Allow")),
    ("policies", "a managed policy", put("Resources.McpRole.Properties.ManagedPolicyArns", ["arn:aws:iam::aws:policy/X"])),
    ("url_permissions", "no permission for the URL", drop("Resources.UrlPermission")),
    ("url_permissions", "no permission for the function", drop("Resources.UrlInvokePermission")),
    ("url_permissions", "a function open to the world", drop("Resources.UrlInvokePermission.Properties.InvokedViaFunctionUrl")),
    ("url_permissions", "another function's permission", put("Resources.UrlPermission.Properties.FunctionName", {
        "Fn::GetAtt": ["TimerFunction", "Arn"]})),
    ("url_permissions", "a URL for signed calls", put("Resources.Url.Properties.AuthType", "AWS_IAM")),
    ("settings", "a different setting", put(f"{MCP_ENV}.PROCESSION_BUS", "other")),
    ("settings", "a setting nobody reads", put(f"{MCP_ENV}.PROCESSION_BOSS", "x")),
    ("settings", "a secret in the environment", put(f"{MCP_ENV}.PROCESSION_URL", "{{resolve:secretsmanager:x}}")),
    ("functions", "no bound", drop("Resources.McpFunction.Properties.ReservedConcurrentExecutions")),
    ("functions", "one architecture", put("Resources.TimerFunction.Properties.Architectures", ["arm64"])),
    ("functions", "logs kept for ever", drop("Resources.TimerLogs.Properties.RetentionInDays")),
    ("functions", "logs elsewhere", drop("Resources.McpFunction.Properties.LoggingConfig")),
    ("parameters", "an unused parameter", put("Parameters.More", {"Type": "String", "Description": "x", "Default": ""})),
    ("parameters", "a parameter nobody uses any more", put("Resources.McpFunction.Properties.Timeout", 30)),
    ("parameters", "no description", drop("Parameters.LogDays.Description")),
    ("parameters", "no default", drop("Parameters.LogDays.Default")),
    ("parameters", "a default that is none", put("Parameters.Issuers.Default", "{}")),
    ("parameters", "no bounds", drop("Parameters.McpMemory.MaxValue")),
    ("parameters", "a default that does not match", put("Parameters.OperatorsGroup.Default", " ")),
    ("parameters", "a parameter outside the groups", drop("Metadata.AWS::CloudFormation::Interface.ParameterGroups.0")),
    ("data", "a table that goes with the stack", put("Resources.Table.DeletionPolicy", "Delete")),
    ("data", "a table that goes when replaced", drop("Resources.Table.UpdateReplacePolicy")),
    ("data", "a bucket that goes with the stack", drop("Resources.Bucket.DeletionPolicy")),
    ("data", "a bucket's policy that goes with the stack", drop("Resources.BucketPolicy.DeletionPolicy")),
    ("data", "a queue of unknown fate", drop("Resources.DeadLetters.DeletionPolicy")),
    ("data", "no recovery", drop(f"{TABLE}.PointInTimeRecoverySpecification")),
    ("data", "no protection", drop(f"{TABLE}.DeletionProtectionEnabled")),
    ("data", "no key for the table", put(f"{TABLE}.SSESpecification.SSEEnabled", False)),
    ("data", "provisioned capacity", put(f"{TABLE}.BillingMode", "PROVISIONED")),
    ("data", "a plain bucket", drop(f"{BUCKET}.BucketEncryption")),
    ("data", "no versions", put(f"{BUCKET}.VersioningConfiguration.Status", "Suspended")),
    ("data", "a plain queue", drop("Resources.DeadLetters.Properties.SqsManagedSseEnabled")),
    ("alarms", "an alarm that tells nobody", drop("Resources.OverdueAlarm.Properties.AlarmActions")),
    ("alarms", "an alarm that always tells", put("Resources.OverdueAlarm.Properties.AlarmActions", [{"Ref": "AlarmTopic"}])),
    ("alarms", "unwatched letters", drop("Resources.DeadLettersAlarm")),
    ("alarms", "an unwatched function", drop("Resources.TimerErrorsAlarm")),
    ("alarms", "an unmeasured backlog", drop("Resources.OverdueMetric")),
    ("alarms", "an unwatched backlog", drop("Resources.OverdueAlarm")),
    ("alarms", "an alarm nobody sees", put("Resources.Dashboard", {"Type": "AWS::CloudWatch::Dashboard"})),
    ("schedules", "undelivered calls", drop("Resources.Sweeper.Properties.Target.DeadLetterConfig")),
    ("schedules", "failed calls", drop("Resources.TimerFailures")),
    ("schedules", "a role for everybody's schedules", drop(f"{TRUST}.Condition.StringEquals.aws:SourceAccount")),
    ("schedules", "a role passed to anything", drop(f"{MCP}.5.Condition")),
    ("schedules", "any role passed", put(f"{MCP}.5.Resource", "arn:aws:iam::1:role/other")),
]
SPOILED += [("settings", f"no {name}", drop(f"{MCP_ENV}.{name}")) for name in sorted(rules.SETTINGS)]
SPOILED += [("data", f"no {name}", drop(f"{BUCKET}.PublicAccessBlockConfiguration.{name}"))
            for name in ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")]


class Template(unittest.TestCase):
    """The template itself."""

    def test_it_keeps_every_rule(self):
        for rule in rules.RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(rule(TEMPLATE), [])

    def test_the_dashboard_is_json(self):
        body = at(TEMPLATE, "Resources.Dashboard.Properties.DashboardBody")["Fn::Sub"][0]
        self.assertTrue(json.loads(re.sub(r"\$\{[^}]+\}", "x", body))["widgets"])

    def test_the_secret_is_json_with_an_address(self):
        text = at(TEMPLATE, "Resources.Secret.Properties.GenerateSecretString.SecretStringTemplate")["Fn::Sub"]
        self.assertEqual(list(json.loads(text)), ["publicUrl"])

    def test_the_readme_explains_every_parameter(self):
        rows = table("Parameters", 2)
        self.assertEqual({name for name, _ in rows}, set(TEMPLATE["Parameters"]))
        for name, default in rows:
            with self.subTest(parameter=name):
                self.assertEqual(default.strip("`"), str(TEMPLATE["Parameters"][name].get("Default", "")))

    def test_the_readme_explains_every_alarm(self):
        self.assertEqual({name for name, _ in table("What is watched", 2)},
                         set(rules.of_type(TEMPLATE, "AWS::CloudWatch::Alarm")))


def table(heading, columns):
    """The first columns of the rows under a heading of the README that begin with a name."""
    section = (INFRA / "README.md").read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")]
    return [(row[0].strip("`"), *row[1:columns]) for row in rows]


# What each call of an AWS client needs. A transaction is allowed by the operations in it.
NEEDED = {
    "batch_get_item": {"dynamodb:BatchGetItem"},
    "converse": {"bedrock:InvokeModel"},
    "create_schedule": {"scheduler:CreateSchedule", "iam:PassRole"},
    "delete_item": {"dynamodb:DeleteItem"},
    "delete_schedule": {"scheduler:DeleteSchedule"},
    "get_item": {"dynamodb:GetItem"},
    # ListBucket is what tells an object that is not there from one that may not be read.
    "get_object": {"s3:GetObject", "s3:ListBucket"},
    "get_secret_value": {"secretsmanager:GetSecretValue"},
    "put_events": {"events:PutEvents"},
    "put_item": {"dynamodb:PutItem"},
    "put_object": {"s3:PutObject"},
    "query": {"dynamodb:Query"},
    "transact_write_items": {"dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem"},
}
# Only the embedded server makes its table and bucket; here the template does.
PROVISIONING = {"create_bucket", "create_table", "describe_table", "head_bucket"}
# What a function needs for itself: its log, and where its failures go.
OWN = {"logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage"}


def allowed(role):
    """The actions that a role's policies list."""
    return {action for where, statement in rules.statements(TEMPLATE)
            if where.startswith(f"/{role}") and "/AssumeRolePolicyDocument/" not in where
            for action in rules.listed(statement["Action"])}


class Code(unittest.TestCase):
    """The template and the code that it runs speak of the same things."""

    def source(self, *names):
        """The code of these folders and files, without tests."""
        files = []
        for name in names:
            path = INFRA.parent / name
            files += [path] if path.is_file() else [f for f in path.rglob("*.rs") if "test" not in f.name]
        self.assertTrue(files)
        return "\n".join(file.read_text().split("#[cfg(test)]", 1)[0] for file in files)

    def test_the_settings_are_those_that_are_read(self):
        self.assertEqual(set(re.findall(r'"(PROCESSION_[A-Z_]+)"', self.source("shared/cloud/src/settings.rs"))),
                         rules.SETTINGS)

    def test_the_roles_may_do_what_is_called_and_nothing_else(self):
        code = self.source("shared/cloud/src", "shared/store/src", "shared/evaluator/src")
        called = set(re.findall(r"\b(?:client|secrets)\s*\.\s*([a-z_0-9]+)\(\)", code)) - {"clone", "config"}
        # This one is built apart from the client that it is sent with.
        called |= {"converse"} if "ConverseInputBuilder" in code else set()
        self.assertEqual(called - PROVISIONING, set(NEEDED))
        everything = OWN.union(*NEEDED.values())
        # Files are the endpoint's, and so is the model; people are told by the timer.
        self.assertEqual(allowed("McpRole") | allowed("Evaluator"), everything - NEEDED["put_events"] - {"sqs:SendMessage"})
        self.assertEqual(allowed("TimerRole"), everything - NEEDED["get_object"] - NEEDED["put_object"] - NEEDED["converse"]
                         - NEEDED["batch_get_item"])

    def test_the_backlog_is_what_the_sweeper_logs(self):
        self.assertRegex(self.source("functions/timer/src/sweep.rs"), r'info!\(overdue, [^)]*"swept"\)')
        self.assertIn(".flatten_event(true)", self.source("shared/logs/src/lib.rs"))
        metric = at(TEMPLATE, "Resources.OverdueMetric.Properties")
        self.assertEqual(metric["FilterPattern"], '{ $.message = "swept" }')
        self.assertEqual(metric["MetricTransformations"][0]["MetricValue"], "$.overdue")

    def test_the_notices_by_mail_are_those_that_are_sent(self):
        known = set(re.findall(r"^## ([A-Z][a-z]+ [a-z]+)$", (INFRA.parent / "docs/events.md").read_text(), re.MULTILINE))
        rule = at(TEMPLATE, "Resources.NoticeRule.Properties")
        self.assertEqual(set(rule["EventPattern"]["detail-type"]), known)
        transformer = rule["Targets"][0]["InputTransformer"]
        self.assertEqual(set(re.findall(r"<([a-z]+)>", transformer["InputTemplate"])), set(transformer["InputPathsMap"]))
        told = self.source("shared/cloud/src/events.rs")
        for path in transformer["InputPathsMap"].values():
            if path.startswith("$.detail."):
                self.assertIn(f'"{path.removeprefix("$.detail.")}"', told)


class Rules(unittest.TestCase):
    """Every rule can fail."""

    def test_every_rule_finds_what_it_is_for(self):
        for name, what, spoil in SPOILED:
            with self.subTest(rule=name, spoiled=what):
                template = copy.deepcopy(TEMPLATE)
                spoil(template)
                self.assertNotEqual(template, TEMPLATE)
                self.assertNotEqual(getattr(rules, name)(template), [])

    def test_every_rule_is_spoiled(self):
        self.assertEqual({name for name, _, _ in SPOILED}, {rule.__name__ for rule in rules.RULES})


if __name__ == "__main__":
    unittest.main()
