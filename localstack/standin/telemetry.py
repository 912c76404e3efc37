"""What LocalStack records of each call, at a price that a suite of thousands of calls can pay.

Two thirds of the work of a call were its record. The metric of an invocation that went well is not kept (that of one that
failed is); what calls wrote goes to its log group some calls at a time, half a second later.
"""

import logging
import queue
import time

from localstack.aws.connect import connect_to
from localstack.services.lambda_.invocation import version_manager
from localstack.services.lambda_.invocation.logs import QUEUE_SHUTDOWN, LogHandler
from localstack.utils.aws.client_types import ServicePrincipal

LOG = logging.getLogger(__name__)

# How long what was written waits for more, in seconds.
GATHER_SECONDS = 0.5

# Most events of one PutLogEvents.
EVENTS = 10_000


def install():
    """Puts the two in the place of LocalStack's."""
    version_manager.record_cw_metric_invocation = lambda **_: None
    LogHandler.run_log_loop = run_log_loop


def run_log_loop(self, *_args, **_kwargs):
    """Files what calls wrote, until it is told to stop."""
    clients = connect_to.with_assumed_role(
        region_name=self.region, role_arn=self.role_arn, service_principal=ServicePrincipal.lambda_
    )
    known, going = set(), True
    while going:
        items = [self.log_queue.get()]
        time.sleep(0 if items[0] is QUEUE_SHUTDOWN else GATHER_SECONDS)
        try:
            while True:
                items.append(self.log_queue.get_nowait())
        except queue.Empty:
            pass
        going = QUEUE_SHUTDOWN not in items
        streams = {}
        for item in items:
            if item is not QUEUE_SHUTDOWN:
                streams.setdefault((item.log_group, item.log_stream), []).extend(item.logs.splitlines())
        for stream, lines in streams.items():
            try:
                _file(clients.logs, stream, [line for line in lines if line], known)
            except Exception as error:
                LOG.warning("%s %s: not filed: %s", *stream, error)


def _file(client, stream, lines, known):
    names = {"logGroupName": stream[0], "logStreamName": stream[1]}
    if stream not in known:
        for create, given in ((client.create_log_group, {"logGroupName": stream[0]}), (client.create_log_stream, names)):
            try:
                create(**given)
            except client.exceptions.ResourceAlreadyExistsException:
                pass
        known.add(stream)
    now = int(time.time() * 1000)
    for start in range(0, len(lines), EVENTS):
        events = [{"timestamp": now, "message": line} for line in lines[start : start + EVENTS]]
        client.put_log_events(**names, logEvents=events)
