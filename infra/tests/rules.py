"""What the template must keep, beyond what cfn-lint knows. Each rule takes the template and gives every problem it finds.

Invariant: a rule says what is wrong, where, and what to do; it never stops at the first finding.
"""

import re

# The only places where `?` may stand for characters that are not known before run time, each the end of a resource.
SHAPES = [
    ":secret:${AWS::StackName}-claims-" + "?" * 6,
    ":schedule/${AWS::StackName}/p-" + "?" * 40,
    "${Bucket.Arn}/" + "?" * 20 + "/" + "?" * 22,
    ":s3:::${KeptBucket}/" + "?" * 20 + "/" + "?" * 22,
]

# What a parameter may not let through when a policy names it.
WILD = ["*", "?", "arn:aws:*", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:*", "a*b", "abc?", "${aws:username}",
        "arn:aws:bedrock:eu-west-1::foundation-model/*", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:a-??????"]

# Every setting of the functions.
SETTINGS = {
    "PROCESSION_TABLE", "PROCESSION_BUCKET", "PROCESSION_SECRET", "PROCESSION_SCHEDULE_GROUP", "PROCESSION_SCHEDULE_ROLE",
    "PROCESSION_TIMER", "PROCESSION_DEAD_LETTERS", "PROCESSION_BUS", "PROCESSION_ISSUERS", "PROCESSION_URL",
    "PROCESSION_OPERATORS_GROUP", "PROCESSION_LEASE_SECONDS", "PROCESSION_UPLOAD_BYTES", "PROCESSION_EVALUATOR",
    "PROCESSION_EVALUATOR_SECRET",
}

# What only the operator can know.
REQUIRED = {"CodeBucket", "Issuers"}

# Kinds of resource that keep something, so that the template must say what becomes of it.
KEEPING = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::SQS::Queue", "AWS::Logs::LogGroup"}
# A bucket that stays without its policy would take what is not encrypted on its way.
OUTLIVING = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::S3::BucketPolicy"}

FUNCTIONS = {"McpFunction", "TimerFunction"}


def of_type(template, kind):
    """The resources of a type, by their names."""
    return {name: r for name, r in template["Resources"].items() if r["Type"] == kind}


def listed(value):
    """A value that may stand alone or in a list, as a list."""
    return value if isinstance(value, list) else [value]


def walk(value, path=""):
    """Every map within a value, with where it is."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from walk(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, f"{path}/{index}")


def statements(template):
    """Every statement of every policy, with where it is."""
    for path, found in walk(template["Resources"]):
        if "Statement" in found:
            for index, statement in enumerate(listed(found["Statement"])):
                yield f"{path}/{index}", statement


def branches(value):
    """What a value may come to: both sides of every `If`."""
    if isinstance(value, dict) and set(value) == {"Fn::If"}:
        return [leaf for side in value["Fn::If"][1:] for leaf in branches(side)]
    return [leaf for inner in value for leaf in branches(inner)] if isinstance(value, list) else [value]


def names_of(template, text):
    """A problem for each parameter in a `Sub` that lets a wildcard through."""
    for name in re.findall(r"\$\{([^}]+)\}", text):
        yield from lets_wildcards(template, name)


def lets_wildcards(template, name):
    parameter = template["Parameters"].get(name)
    if parameter is None:
        return
    pattern = parameter.get("AllowedPattern")
    if pattern is None or any(re.search(pattern, text) for text in WILD):
        yield f"the parameter {name} may bring a wildcard; let its AllowedPattern refuse * and ?"


def resource_problems(template, actions, value):
    """What is wrong with one resource of a policy."""
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        name = value["Fn::GetAtt"][0] if isinstance(value["Fn::GetAtt"], list) else value["Fn::GetAtt"].split(".")[0]
        # CloudFormation ends this ARN in `:*`: the streams of this group.
        if template["Resources"][name]["Type"] == "AWS::Logs::LogGroup":
            if not set(actions) <= {"logs:CreateLogStream", "logs:PutLogEvents"}:
                yield f"{actions} on all streams of {name}; only writing to them is meant to be allowed"
        return
    if isinstance(value, dict) and "Ref" in value:
        yield from lets_wildcards(template, value["Ref"])
        return
    if isinstance(value, dict) and "Fn::Sub" in value:
        text = value["Fn::Sub"]
        if not isinstance(text, str):
            yield f"{text}: write the Sub as one text"
            return
        yield from names_of(template, text)
    elif isinstance(value, str):
        text = value
    else:
        yield f"{value} is no name of a resource; use a text, Ref, GetAtt, Sub or If"
        return
    known = next((shape for shape in SHAPES if text.endswith(shape)), "")
    rest = text[: len(text) - len(known)]
    if "*" in text or "?" in rest:
        yield f"{text} has a wildcard; name the resource"


def policies(template):
    """Each action and each resource is named."""
    problems = []
    for where, statement in statements(template):
        for key in ("NotAction", "NotResource", "NotPrincipal"):
            if key in statement:
                problems.append(f"{where}: {key} allows what nobody listed; list it")
        trust = "/AssumeRolePolicyDocument/" in where
        actions = branches(listed(statement.get("Action", [])))
        for action in actions:
            if not isinstance(action, str) or not re.fullmatch(r"[a-z0-9-]+:[A-Z][A-Za-z]+", action):
                problems.append(f"{where}: the action {action} is not one action by its name")
        resources = branches(listed(statement.get("Resource", [])))
        if not actions or (not trust and not resources):
            problems.append(f"{where}: no action or no resource is named")
        for value in resources:
            problems += [f"{where}: {problem}" for problem in resource_problems(template, actions, value)]
        principal = statement.get("Principal", {})
        everybody = principal == "*" or (isinstance(principal, dict) and "*" in sum(map(listed, principal.values()), []))
        if everybody and statement.get("Effect") != "Deny":
            problems.append(f"{where}: everybody is allowed; name the principal")
    for path, found in walk(template["Resources"]):
        if "ManagedPolicyArns" in found:
            problems.append(f"{path}/ManagedPolicyArns: such a policy names more than is needed; write the actions down")
    return problems


def url_permissions(template):
    """The URL is open by both permissions, and the function by nothing else."""
    wanted = [
        {"Action": "lambda:InvokeFunctionUrl", "FunctionUrlAuthType": "NONE", "Principal": "*"},
        {"Action": "lambda:InvokeFunction", "InvokedViaFunctionUrl": True, "Principal": "*"},
    ]
    function = {"Fn::GetAtt": ["McpFunction", "Arn"]}
    found = [dict(r["Properties"]) for r in of_type(template, "AWS::Lambda::Permission").values()]
    problems = [f"{want} is not granted on {function}" for want in wanted if {**want, "FunctionName": function} not in found]
    for extra in found:
        if {key: value for key, value in extra.items() if key != "FunctionName"} not in wanted:
            problems.append(f"{extra} is a permission beyond the two that a URL needs")
    for name, url in of_type(template, "AWS::Lambda::Url").items():
        if url["Properties"].get("AuthType") != "NONE":
            problems.append(f"{name}: AuthType must be NONE; clients bring tokens, not AWS signatures")
        if url["Properties"].get("TargetFunctionArn") != function:
            problems.append(f"{name}: it must lead to McpFunction")
    return problems


def settings(template):
    """Both functions have every setting, the same, and none that holds a secret."""
    problems, seen = [], {}
    for name, function in of_type(template, "AWS::Lambda::Function").items():
        variables = function["Properties"].get("Environment", {}).get("Variables", {})
        seen[name] = variables
        for missing in sorted(SETTINGS - set(variables)):
            problems.append(f"{name}: {missing} is not set")
        for extra in sorted(set(variables) - SETTINGS):
            problems.append(f"{name}: nobody reads {extra}")
        if "{{resolve:" in str(variables):
            problems.append(f"{name}: a secret must not stand in the environment")
    if set(seen) != FUNCTIONS:
        problems.append(f"the functions are {sorted(seen)}")
    elif seen["McpFunction"] != seen["TimerFunction"]:
        problems.append("the two functions have different settings")
    return problems


def functions(template):
    """The functions are bounded, built for what the zips are for, and log where the template says."""
    problems = []
    for name, function in of_type(template, "AWS::Lambda::Function").items():
        properties = function["Properties"]
        if properties.get("Runtime") != "provided.al2023" or properties.get("Architectures") != [{"Ref": "Architecture"}]:
            problems.append(f"{name}: Runtime must be provided.al2023, Architectures the parameter")
        if "ReservedConcurrentExecutions" not in properties:
            problems.append(f"{name}: nothing bounds how many run at once")
        group = properties.get("LoggingConfig", {}).get("LogGroup", {}).get("Ref")
        if group not in of_type(template, "AWS::Logs::LogGroup"):
            problems.append(f"{name}: it does not log to a group of this template, whose retention is known")
    for name, group in of_type(template, "AWS::Logs::LogGroup").items():
        if "RetentionInDays" not in group["Properties"]:
            problems.append(f"{name}: logs would be kept for ever; set RetentionInDays")
    return problems


def parameters(template):
    """Every parameter is explained, bounded, shown in a group and used."""
    problems = []
    used = set()
    for section in ("Resources", "Conditions", "Outputs"):
        for _, found in walk(template.get(section, {})):
            if "Ref" in found:
                used.add(found["Ref"])
            if "Fn::Sub" in found:
                used.update(re.findall(r"\$\{([A-Za-z0-9]+)\}", str(found["Fn::Sub"])))
    interface = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in interface for name in group["Parameters"]]
    for name, parameter in template["Parameters"].items():
        if name not in used:
            problems.append(f"{name}: nothing uses it")
        if not parameter.get("Description"):
            problems.append(f"{name}: it has no description")
        if ("Default" in parameter) == (name in REQUIRED):
            problems.append(f"{name}: a default is missing, or there is one that cannot be right")
        bounds = ("AllowedPattern" in parameter or "AllowedValues" in parameter
                  or {"MinValue", "MaxValue"} <= set(parameter))
        if not bounds:
            problems.append(f"{name}: anything may be given; add AllowedPattern, AllowedValues, or MinValue and MaxValue")
        pattern, default = parameter.get("AllowedPattern"), parameter.get("Default")
        if pattern and default is not None and not re.search(pattern, default):
            problems.append(f"{name}: its default does not match its pattern")
        if grouped.count(name) != 1:
            problems.append(f"{name}: it must stand in one group of the interface")
    return problems


def data(template):
    """What holds data outlives the stack, is encrypted, and is nobody else's to read."""
    problems = []
    for name, resource in template["Resources"].items():
        kind = resource["Type"]
        for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
            if kind in KEEPING and policy not in resource:
                problems.append(f"{name}: it keeps something; say what becomes of it by {policy}")
            if kind in OUTLIVING and resource.get(policy) != "Retain":
                problems.append(f"{name}: {policy} must be Retain")
    for name, table in of_type(template, "AWS::DynamoDB::Table").items():
        properties = table["Properties"]
        if properties.get("PointInTimeRecoverySpecification", {}).get("PointInTimeRecoveryEnabled") is not True:
            problems.append(f"{name}: it has no point-in-time recovery")
        if properties.get("SSESpecification", {}).get("SSEEnabled") is not True:
            problems.append(f"{name}: SSEEnabled must be true")
        if "DeletionProtectionEnabled" not in properties:
            problems.append(f"{name}: it has no deletion protection")
        if properties.get("BillingMode") != "PAY_PER_REQUEST":
            problems.append(f"{name}: BillingMode must be PAY_PER_REQUEST")
    for name, bucket in of_type(template, "AWS::S3::Bucket").items():
        properties = bucket["Properties"]
        if "BucketEncryption" not in properties:
            problems.append(f"{name}: it is not encrypted")
        blocked = properties.get("PublicAccessBlockConfiguration", {})
        for key in ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"):
            if blocked.get(key) is not True:
                problems.append(f"{name}: {key} must be true")
        if properties.get("VersioningConfiguration", {}).get("Status") != "Enabled":
            problems.append(f"{name}: it keeps no versions")
    for name, queue in of_type(template, "AWS::SQS::Queue").items():
        if queue["Properties"].get("SqsManagedSseEnabled") is not True:
            problems.append(f"{name}: it is not encrypted")
    return problems


def alarms(template):
    """What can go wrong is watched, and told when there is an address to tell."""
    problems, watched = [], set()
    told = {"Fn::If": ["HasAlarmEmail", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}
    for name, alarm in of_type(template, "AWS::CloudWatch::Alarm").items():
        properties = alarm["Properties"]
        for key in ("AlarmActions", "OKActions"):
            if properties.get(key) != told:
                problems.append(f"{name}: {key} does not tell the alarm topic when there is one")
        if "TreatMissingData" not in properties:
            problems.append(f"{name}: say what silence means by TreatMissingData")
        of = next((next(iter(d["Value"].values())) for d in properties.get("Dimensions", [])), None)
        watched.add((properties["MetricName"], of if isinstance(of, str) else of and of[0]))
    for metric in ("Errors", "Throttles"):
        problems += [f"{metric} of {name} is not watched" for name in sorted(FUNCTIONS) if (metric, name) not in watched]
    if ("ApproximateNumberOfMessagesVisible", "DeadLetters") not in watched:
        problems.append("the dead letters are not watched")
    made = {m["MetricName"] for f in of_type(template, "AWS::Logs::MetricFilter").values()
            for m in f["Properties"]["MetricTransformations"]}
    if not made or not made <= {metric for metric, _ in watched}:
        problems.append("the overdue backlog is not measured, or not watched")
    shown = str(template["Resources"].get("Dashboard", {}))
    problems += [f"{name} is not on the dashboard" for name in of_type(template, "AWS::CloudWatch::Alarm")
                 if f"${{{name}.Arn}}" not in shown]
    return problems


def schedules(template):
    """A call that fails ends in the queue: the schedule's own failures, and the function's."""
    problems = []
    letters = {"Fn::GetAtt": ["DeadLetters", "Arn"]}
    for name, schedule in of_type(template, "AWS::Scheduler::Schedule").items():
        target = schedule["Properties"]["Target"]
        if target.get("DeadLetterConfig", {}).get("Arn") != letters:
            problems.append(f"{name}: what it cannot deliver is lost")
        if target.get("RoleArn") != {"Fn::GetAtt": ["ScheduleRole", "Arn"]}:
            problems.append(f"{name}: it must use ScheduleRole")
    failures = [c["Properties"] for c in of_type(template, "AWS::Lambda::EventInvokeConfig").values()]
    if not any(f["FunctionName"] == {"Ref": "TimerFunction"} and f["DestinationConfig"]["OnFailure"]["Destination"] == letters
               for f in failures):
        problems.append("what TimerFunction fails at is lost")
    trust = template["Resources"]["ScheduleRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    if not {"aws:SourceAccount", "aws:SourceArn"} <= set(trust.get("Condition", {}).get("StringEquals", {})):
        problems.append("ScheduleRole: schedules of others could use it; keep both conditions")
    passed = [s for _, s in statements(template) if "iam:PassRole" in listed(s["Action"])]
    if not passed or any(s.get("Condition", {}).get("StringEquals", {}).get("iam:PassedToService") != "scheduler.amazonaws.com"
                         or s["Resource"] != {"Fn::GetAtt": ["ScheduleRole", "Arn"]} for s in passed):
        problems.append("iam:PassRole must be for ScheduleRole, to Scheduler, and nothing else")
    return problems


RULES = [policies, url_permissions, settings, functions, parameters, data, alarms, schedules]
