"""Fires the schedules of EventBridge Scheduler, which LocalStack stores and never looks at.

Invariants: nothing fires before its time; a schedule fires once for each of its times, whatever its target does meanwhile;
one that is deleted after its last time is there until its call was delivered or filed as dead. Looking costs nothing but a
walk over what LocalStack keeps in memory.
"""

import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from localstack.runtime import hooks

from standin.deliver import Delivery, deliver

LOG = logging.getLogger(__name__)

# Between two looks, in seconds. AWS promises a minute; a test waits less.
LOOK_SECONDS = 0.2

# Deliveries under way at once.
DELIVERIES = 8

UNIT_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}


def due_at(expression):
    """The time of `at(…)` in seconds since 1970, in UTC; None for anything else."""
    if not (found := re.fullmatch(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)", expression)):
        return None
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp()


def period(expression):
    """The seconds of `rate(…)`; None for anything else."""
    if not (found := re.fullmatch(r"rate\(([1-9]\d*) (minute|hour|day)s?\)", expression)):
        return None
    return int(found[1]) * UNIT_SECONDS[found[2]]


@dataclass
class Known:
    """What the pump knows of one schedule, as it was last changed."""

    changed: float
    next: float | None
    every: float | None


class Pump:
    """Walks over schedules and hands what is due to deliveries."""

    def __init__(self, groups, send=deliver, now=time.time):
        # Gives every group, each with its schedules by name.
        self._groups = groups
        self._send = send
        self._now = now
        self._known = {}
        self._pool = ThreadPoolExecutor(DELIVERIES, thread_name_prefix="standin-delivery")
        self._waiting = []
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def run(self):
        """Looks until it is stopped."""
        while not self._stop.wait(LOOK_SECONDS):
            try:
                self.look()
            except Exception:
                LOG.exception("a look at the schedules failed; the next one may not")

    def stop(self):
        """Ends it. What was not delivered stays undelivered."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def look(self):
        """Fires what is due, and tries again what was to be tried again by now."""
        now, seen = self._now(), set()
        for group in self._groups():
            for schedule in list(group.schedules.values()):
                seen.add(schedule.arn)
                known = self._knows(schedule, now)
                if schedule.state == "ENABLED" and known.next is not None and known.next <= now:
                    scheduled, known.next = known.next, known.every and now + known.every
                    self._pool.submit(self._try, Delivery.of(schedule, scheduled), group, schedule)
        for arn in self._known.keys() - seen:
            del self._known[arn]
        with self._lock:
            again = [waiting for waiting in self._waiting if waiting[0] <= now]
            self._waiting = [waiting for waiting in self._waiting if waiting[0] > now]
        for _, delivery, group, schedule in again:
            # Whoever deletes a schedule means its call as well.
            if group.schedules.get(schedule.name) is schedule:
                self._pool.submit(self._try, delivery, group, schedule)

    def _knows(self, schedule, now):
        known = self._known.get(schedule.arn)
        # One that was deleted and made again under its name is another.
        changed = schedule.last_modified_date
        if known is None or known.changed != changed:
            every = period(schedule.schedule_expression)
            first = now if every else due_at(schedule.schedule_expression)
            if first is None:
                LOG.error("%s: %s is never fired here", schedule.arn, schedule.schedule_expression)
            known = self._known[schedule.arn] = Known(changed, first, every)
        return known

    def _try(self, delivery, group, schedule):
        try:
            again = self._send(delivery, self._now())
        except Exception:
            LOG.exception("%s: could not be delivered, nor filed", schedule.arn)
            again = None
        if again is not None:
            with self._lock:
                self._waiting.append((again, delivery, group, schedule))
        elif schedule.action_after_completion == "DELETE" and period(schedule.schedule_expression) is None:
            if group.schedules.get(schedule.name) is schedule:
                group.schedules.pop(schedule.name, None)


def _groups():
    from moto.scheduler.models import scheduler_backends

    for regions in list(scheduler_backends.values()):
        for backend in list(regions.values()):
            yield from list(backend.schedule_groups.values())


_running = []


@hooks.on_infra_ready()
def start():
    """LocalStack is ready."""
    pump = Pump(_groups)
    _running.append(pump)
    threading.Thread(target=pump.run, name="standin-pump", daemon=True).start()


@hooks.on_infra_shutdown()
def stop():
    """LocalStack ends."""
    while _running:
        _running.pop().stop()
