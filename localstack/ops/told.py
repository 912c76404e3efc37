"""Prints what a suite has to be told of a stack, for a shell to read."""

import shlex
import sys

from ops import place


def main():
    """One `export` a line."""
    stack = place.read(place.STACKS / f"{sys.argv[1]}.json")
    if stack is None:
        sys.exit(f"localstack: {sys.argv[1]} is not deployed; run localstack/deploy first")
    told = {
        "PROCESSION_URL": stack["outputs"]["McpUrl"],
        "PROCESSION_TOKEN_COMMAND": stack["tokenCommand"],
        "PROCESSION_EVALUATOR_LISTEN": stack["evaluator"]["listen"],
        "PROCESSION_EVALUATOR_KEY": stack["evaluator"]["key"],
    }
    for name, value in told.items():
        print(f"export {name}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
