"""LocalStack on loopback only.

It runs functions for whoever can reach its port, and leaves the host of `GATEWAY_LISTEN` out when it listens: without this
it would be open on every interface of the machine.
"""

from types import SimpleNamespace

from localstack.runtime import hooks
from localstack.runtime.server import twisted
from twisted.internet import endpoints

# The host that everything here listens on.
LOOPBACK = "127.0.0.1"


@hooks.on_infra_start()
def stay_on_loopback():
    """Whatever the server is told to listen on, it is a port of loopback. Runs before the server is made.

    Of hooks whose functions have the same name LocalStack runs one.
    """
    twisted.endpoints = SimpleNamespace(TCP4ServerEndpoint=on_loopback, TCP6ServerEndpoint=on_loopback)


def on_loopback(reactor, port, **_):
    """An endpoint of that port."""
    return endpoints.TCP4ServerEndpoint(reactor, port, interface=LOOPBACK)
