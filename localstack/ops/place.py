"""Where everything is: one folder under target/, one port, one region."""

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
PLACE = TARGET / "localstack"

# Written by `up`, removed by `down`: what runs.
RUNNING = PLACE / "running.json"
# Written by `deploy`: what a client needs to know, by stack.
STACKS = PLACE / "stacks"
# The key of the issuer whose tokens the stacks take.
ISSUER = PLACE / "issuer"

PORT = int(os.environ.get("PROCESSION_LOCALSTACK_PORT", "4566"))
ENDPOINT = f"http://127.0.0.1:{PORT}"
REGION = "us-east-1"

# LocalStack takes any; a profile of the user's must never be used here.
CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


def client(service):
    """A client of LocalStack."""
    import boto3
    from botocore.config import Config

    # No proxy that the environment may name: everything is on loopback.
    config = Config(retries={"max_attempts": 0}, connect_timeout=5, read_timeout=60, proxies={})
    return boto3.client(service, endpoint_url=ENDPOINT, region_name=REGION, config=config, **CREDENTIALS)


def read(path):
    """The JSON of a file, or None."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


def write(path, value):
    """Writes JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(value, indent=2) + "\n")
    draft.replace(path)
