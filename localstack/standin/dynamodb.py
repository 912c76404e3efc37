"""DynamoDB by the table server: every call is passed on as it came, and its answer back as it went.

It is passed on before LocalStack reads it: taking transactions apart and putting them together again would be most of the
work that a call of a function makes here. The server's address is in `STANDIN_TABLE_URL`.
"""

import os

import urllib3
from localstack.aws import handlers
from localstack.http import Response
from localstack.runtime import hooks

# Longest that an answer may take, in seconds.
ANSWER_SECONDS = 30

# Connections kept to the table server.
CONNECTIONS = 64

TARGET = "x-amz-target"

# What belongs to one connection, and not to the call.
ITS_OWN = ("connection", "content-length", "host", "keep-alive", "transfer-encoding")


@hooks.on_infra_start(should_load=lambda: "STANDIN_TABLE_URL" in os.environ)
def install():
    """Every request passes here first."""
    pool = urllib3.connection_from_url(os.environ["STANDIN_TABLE_URL"], maxsize=CONNECTIONS, block=False)

    def pass_on(chain, context, response):
        request = context.request
        if not request.headers.get(TARGET, "").startswith("DynamoDB_"):
            return
        answer = pool.urlopen(
            "POST", "/", body=request.get_data(), headers=carried(request.headers), timeout=ANSWER_SECONDS, retries=False
        )
        response.update_from(Response(answer.data, status=answer.status, headers=carried(answer.headers)))
        chain.stop()

    handlers.preprocess_request.append(pass_on)


def carried(headers):
    """The headers that are passed on."""
    return {name: value for name, value in headers.items() if name.lower() not in ITS_OWN}
