"""Uploads the functions' zips and deploys infra/template.yaml, by parameters alone.

    python -m ops.deploy --stack NAME [--faults] MCP_BOOTSTRAP TIMER_BOOTSTRAP
"""

import argparse
import hashlib
import json
import platform
import secrets
import shlex
import sys
import time
import zipfile
from io import BytesIO

from ops import place

BUCKET = "procession-code"

# Longest that a deployment may take, in seconds.
DEPLOY_SECONDS = 180

# What checks are answered by: an endpoint that a test suite serves on loopback.
EVALUATOR_LISTEN = "127.0.0.1:4567"
EVALUATOR_MODEL = "scripted-1"


def main():
    """Creates the stack, or updates it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stack", required=True)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("mcp")
    parser.add_argument("timer")
    asked = parser.parse_args()
    running = place.read(place.RUNNING)
    if running is None:
        sys.exit("localstack/deploy: nothing runs; run localstack/up first")

    prefix = upload({"mcp-function": asked.mcp, "timer-function": asked.timer})
    key, key_arn = evaluator_key()
    parameters = {
        "CodeBucket": BUCKET,
        "CodePrefix": prefix,
        "Architecture": {"aarch64": "arm64"}.get(platform.machine(), platform.machine()),
        "Issuers": json.dumps(running["issuers"], separators=(",", ":")),
        "Evaluator": json.dumps(
            {"kind": "openai", "url": f"http://{EVALUATOR_LISTEN}/v1", "model": EVALUATOR_MODEL}, separators=(",", ":")
        ),
        "EvaluatorSecret": key_arn,
        "DeletionProtection": "false",
    }
    begun = time.monotonic()
    outputs = deploy(asked.stack, parameters)
    faults = place.PLACE / f"{asked.stack}-faults.json" if asked.faults else None
    if faults:
        plan_faults(asked.stack, faults)
    command = [place.TARGET / "debug/procession", "token", "--data", place.ISSUER]
    place.write(place.STACKS / f"{asked.stack}.json", {
        "stack": asked.stack,
        "endpoint": place.ENDPOINT,
        "region": place.REGION,
        "outputs": outputs,
        "tokenCommand": shlex.join(str(part) for part in command),
        "evaluator": {"listen": EVALUATOR_LISTEN, "key": key},
        "faults": faults and str(faults),
    })
    print(f"{asked.stack} is deployed after {time.monotonic() - begun:.1f} s: {outputs['McpUrl']}")


def upload(bootstraps):
    """Puts the zips into a bucket, under a name of their content. Gives the prefix."""
    s3, digest, zips = place.client("s3"), hashlib.sha256(), {}
    for name, path in bootstraps.items():
        with open(path, "rb") as file:
            content = file.read()
        digest.update(content)
        zips[name] = content if zipfile.is_zipfile(BytesIO(content)) else packed(content)
    s3.create_bucket(Bucket=BUCKET)
    prefix = f"procession/{digest.hexdigest()[:16]}"
    for name, content in zips.items():
        s3.put_object(Bucket=BUCKET, Key=f"{prefix}/{name}/bootstrap.zip", Body=content)
    return prefix


def packed(bootstrap):
    """The zip that Lambda takes of an executable."""
    buffer = BytesIO()
    info = zipfile.ZipInfo("bootstrap")
    info.external_attr = 0o755 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, bootstrap, compresslevel=1)
    return buffer.getvalue()


def evaluator_key():
    """The key that the functions send to the evaluator, and the ARN of its secret."""
    manager, name = place.client("secretsmanager"), "procession-evaluator"
    try:
        found = manager.get_secret_value(SecretId=name)
        return found["SecretString"], found["ARN"]
    except manager.exceptions.ResourceNotFoundException:
        key = f"sk-{secrets.token_hex(16)}"
        return key, manager.create_secret(Name=name, SecretString=key)["ARN"]


def deploy(stack, parameters):
    """Brings the stack to this template and these parameters. Gives its outputs."""
    formation = place.client("cloudformation")
    arguments = {
        "StackName": stack,
        "TemplateBody": (place.ROOT / "infra/template.yaml").read_text(),
        "Capabilities": ["CAPABILITY_IAM"],
        "Parameters": [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
    }
    exists = any(
        one["StackName"] == stack and one["StackStatus"] != "DELETE_COMPLETE"
        for one in formation.describe_stacks()["Stacks"]
    )
    try:
        (formation.update_stack if exists else formation.create_stack)(**arguments)
    except formation.exceptions.ClientError as error:
        if "No updates" not in str(error):
            raise
    limit = time.monotonic() + DEPLOY_SECONDS
    while (now := formation.describe_stacks(StackName=stack)["Stacks"][0])["StackStatus"].endswith("IN_PROGRESS"):
        if time.monotonic() > limit:
            sys.exit(f"localstack/deploy: {stack} is not deployed after {DEPLOY_SECONDS} seconds")
        time.sleep(0.25)
    resources = formation.describe_stack_resources(StackName=stack)["StackResources"]
    missing = [one for one in resources if not one["ResourceStatus"].endswith("_COMPLETE")]
    if now["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE") or missing:
        for one in missing:
            why = one.get("ResourceStatusReason", "")
            print(f"{one['LogicalResourceId']}: {one['ResourceStatus']} {why}", file=sys.stderr)
        sys.exit(f"localstack/deploy: {stack} is {now['StackStatus']}: {now.get('StackStatusReason', '')}")
    return {one["OutputKey"]: one["OutputValue"] for one in now["Outputs"]}


def plan_faults(stack, path):
    """Tells functions that were built for it where the plan of faults is; there is none in it yet."""
    path.write_text("{}\n")
    functions = place.client("lambda")
    for name in (f"{stack}-mcp", f"{stack}-timer"):
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        variables["PROCESSION_FAULTS"] = str(path)
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
        functions.get_waiter("function_updated_v2").wait(FunctionName=name, WaiterConfig={"Delay": 1})


if __name__ == "__main__":
    main()
