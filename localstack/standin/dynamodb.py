"""DynamoDB by the table server: every call is passed on as it came, and its answer back as it went.

Chosen by `PROVIDER_OVERRIDE_DYNAMODB=forward`; the server's address is in `STANDIN_TABLE_URL`.
"""

import os

from localstack.aws.api.dynamodb import DynamodbApi
from localstack.aws.forwarder import AwsRequestProxy, ForwardingFallbackDispatcher
from localstack.services.plugins import Service, aws_provider


class ForwardProvider(DynamodbApi):
    """Answers nothing itself."""


@aws_provider(api="dynamodb", name="forward")
def forward():
    """The service that LocalStack registers."""
    proxy = AwsRequestProxy(os.environ["STANDIN_TABLE_URL"])

    def pass_on(context, _request):
        return proxy(context)

    return Service.for_provider(
        ForwardProvider(), dispatch_table_factory=lambda provider: ForwardingFallbackDispatcher(provider, pass_on)
    )
