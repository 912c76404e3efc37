"""Where processes listen."""

import os
import socket
import unittest

from ops import listening


class Listening(unittest.TestCase):
    """What another machine could reach is found, and nothing else."""

    def test_every_interface_is_found_and_loopback_is_not(self):
        # Bound, never served, and closed before anybody could call: only the address is looked at.
        for host, family, beyond in (
            ("127.0.0.1", socket.AF_INET, False),
            ("127.3.2.1", socket.AF_INET, False),
            ("::1", socket.AF_INET6, False),
            ("::ffff:127.0.0.1", socket.AF_INET6, False),
            ("0.0.0.0", socket.AF_INET, True),
            ("::", socket.AF_INET6, True),
        ):
            with self.subTest(host), socket.socket(family) as one:
                one.bind((host, 0))
                self.assertEqual(listening.beyond_loopback([os.getpid()]), [], "it does not listen yet")
                one.listen(1)
                port = one.getsockname()[1]
                self.assertEqual(listening.beyond_loopback([os.getpid()]), [f"{host}:{port}"] if beyond else [])

    def test_of_other_processes_nothing_is_told(self):
        with socket.socket() as one:
            one.bind(("0.0.0.0", 0))
            one.listen(1)
            self.assertEqual(listening.beyond_loopback([]), [])
