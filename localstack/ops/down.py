"""Ends what `up` started, and nothing else."""

from ops import place, processes

# Longest that each may take to end by itself, in seconds.
END_SECONDS = 10


def main():
    """Nothing runs afterwards; what was logged stays."""
    running = place.read(place.RUNNING)
    if running is None:
        print("nothing runs")
        return
    # LocalStack first: its functions use the table.
    for name in ("localstack", "behind"):
        processes.end(running["processes"][name], END_SECONDS)
    place.RUNNING.unlink()
    print("ended")


if __name__ == "__main__":
    main()
