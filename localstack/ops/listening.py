"""Where processes listen, as the system itself tells it."""

import ipaddress
import os

# The state of a socket that listens, in /proc/net/tcp.
LISTENS = "0A"


def beyond_loopback(pids):
    """The addresses that one of these processes listens on and that another machine could reach."""
    sockets = of(pids)
    found = []
    for table, family in (("tcp", ipaddress.IPv4Address), ("tcp6", ipaddress.IPv6Address)):
        for local, state, inode in rows(f"/proc/net/{table}"):
            host, port = local.split(":")
            address = family(network_order(bytes.fromhex(host)))
            if state == LISTENS and inode in sockets and not reaches_only_here(address):
                found.append(f"{address}:{int(port, 16)}")
    return found


def reaches_only_here(address):
    """Whether it is loopback, also where one protocol's address is written as the other's."""
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def network_order(words):
    """The table has each four bytes the machine's way around, which is the other one here."""
    return b"".join(words[at:at + 4][::-1] for at in range(0, len(words), 4))


def rows(path):
    """Address, state and inode of every socket of a table."""
    try:
        with open(path) as file:
            next(file)
            for line in file:
                fields = line.split()
                yield fields[1], fields[3], fields[9]
    except FileNotFoundError:
        # A machine without that protocol.
        return


def of(pids):
    """The inodes of the sockets that these processes have."""
    found = set()
    for pid in pids:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                try:
                    kind, _, rest = os.readlink(f"/proc/{pid}/fd/{name}").partition(":[")
                except OSError:
                    continue
                if kind == "socket":
                    found.add(rest.rstrip("]"))
        except OSError:
            # It has ended.
            continue
    return found
