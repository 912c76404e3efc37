"""Starts the table server and LocalStack, and waits until both are ready."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from ops import listening, place, processes

# Longest that either may take to be ready, in seconds.
READY_SECONDS = 60

# The services that the template and the functions use; others are refused instead of half there.
SERVICES = (
    "cloudformation,cloudwatch,dynamodb,events,iam,lambda,logs,s3,scheduler,secretsmanager,sns,sqs,ssm,sts"
)


def main():
    """Runs once; what runs already is left alone."""
    if running := place.read(place.RUNNING):
        if all(processes.identity(one["pid"]) == one for one in running["processes"].values()):
            print(f"LocalStack runs at {place.ENDPOINT} already")
            return
        sys.exit("localstack/up: some of it has ended; run localstack/down first, and look into target/localstack/*.log")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", place.PORT))
        except OSError:
            sys.exit(f"localstack/up: port {place.PORT} is in use; set PROCESSION_LOCALSTACK_PORT to another")
    for folder in ("root", "tmp"):
        shutil.rmtree(place.PLACE / folder, ignore_errors=True)
        (place.PLACE / folder).mkdir(parents=True)
    shutil.rmtree(place.STACKS, ignore_errors=True)
    started = {}
    try:
        behind = start(started, "behind", [place.TARGET / "debug/examples/behind_localstack", place.ISSUER], {})
        line = behind.stdout.readline()
        if not line:
            sys.exit(f"localstack/up: what stands behind LocalStack did not start; see {place.PLACE}/behind.log")
        told = json.loads(line)
        start(started, "localstack", [place.PLACE / "venv/bin/localstack-supervisor"], environment(told["table"]))
        wait(started["localstack"])
        pids = [pid for one in started.values() for pid in processes.session(one["pid"])]
        if beyond := listening.beyond_loopback(pids):
            sys.exit(f"localstack/up: it listens on {', '.join(beyond)}, which other machines can reach; it was ended")
    except BaseException:
        for one in started.values():
            processes.end(one, 5)
        raise
    place.write(place.RUNNING, {"processes": started, **told})
    print(f"LocalStack runs at {place.ENDPOINT}")


def start(started, name, command, variables):
    """Starts a process in a session of its own, so that its whole offspring is known."""
    with open(place.PLACE / f"{name}.log", "w") as log:
        process = subprocess.Popen(
            [str(part) for part in command], env={**os.environ, **variables}, cwd=place.PLACE,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if name == "behind" else log, stderr=log,
            start_new_session=True,
        )
    started[name] = processes.identity(process.pid)
    return process


def environment(table):
    """What LocalStack is told."""
    here = place.PLACE
    return {
        "PYTHONPATH": str(place.ROOT / "localstack"),
        "PYTHONPYCACHEPREFIX": str(here / "pycache"),
        "XDG_CACHE_HOME": str(here / "cache"),
        "FILESYSTEM_ROOT": str(here / "root"),
        "TMPDIR": str(here / "tmp"),
        "OVERRIDE_IN_DOCKER": "0",
        "GATEWAY_LISTEN": f"127.0.0.1:{place.PORT}",
        # Names under localhost are this machine's, whatever a name server says.
        "LOCALSTACK_HOST": f"localhost:{place.PORT}",
        "DNS_ADDRESS": "0",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "SKIP_INFRA_DOWNLOADS": "1",
        "DISABLE_EVENTS": "1",
        "ANALYTICS_DISABLED": "1",
        "SERVICES": SERVICES,
        "STRICT_SERVICE_LOADING": "1",
        "STANDIN_TABLE_URL": table,
        "LAMBDA_RUNTIME_EXECUTOR": "process",
        # Lambda waits a minute before it tries an asynchronous call again; a test has no minute.
        "LAMBDA_RETRY_BASE_DELAY": "1",
        "LS_LOG": os.environ.get("LS_LOG", "warning"),
    }


def wait(localstack):
    """Until LocalStack says that it is ready."""
    limit = time.monotonic() + READY_SECONDS
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < limit:
        if processes.identity(localstack["pid"]) != localstack:
            sys.exit(f"localstack/up: LocalStack did not start; see {place.PLACE}/localstack.log")
        try:
            with opener.open(f"{place.ENDPOINT}/_localstack/init/ready", timeout=2) as answer:
                if json.load(answer)["completed"]:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"localstack/up: LocalStack was not ready after {READY_SECONDS} seconds; see {place.PLACE}/localstack.log")


if __name__ == "__main__":
    main()
