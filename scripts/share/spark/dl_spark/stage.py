"""The barrier stage of workers beside a master: started again when it fails.

Spark starts a barrier stage again only where its results go into a shuffle, and a task
does not learn in Python how often its stage was started.  So each start is a job of its
own, with keys of its own.
"""

import queue
import re
import sys
import time
import uuid

from dl_spark import failures
from dl_spark.tools import Failure

LAST_TASKS = 60  # seconds in which tasks end when the master has
LAST_WORD = 3    # seconds in which a master ends whose workers did
PLACES = 600     # seconds for executors that were lost to come back
# Statuses that another start of a worker would end with, too: what it was told, its
# input, its version, keys, configuration, or a device or memory that is not there. 69 is
# also that of a master that was not reached, or had enough of the worker's answers.
FINAL = {64, 65, 66, 69, 70, 76, 77, 78}
PASSES = re.compile("no answer from|look at its host and its device")


class Stage:
    """count: workers.  task(attempt): what each task does.  events: where
    ("job", error or None) is put when a job has ended, and by the master
    ("master", status)."""

    def __init__(self, context, count, profile, task, events):
        self._context, self._count, self._profile = context, count, profile
        self._task, self._events = task, events
        self._tag = "dl_spark-" + uuid.uuid4().hex
        self._job = None

    def run(self, master, tries):
        """Until master and workers are done.  Raises Failure: the master's; a
        worker's that is FINAL; or 75, the stage cannot be started again, and the
        master has saved its state."""
        try:
            for attempt in range(tries):
                self._start(attempt)
                error = self._end_of(master)
                if error is None:
                    return
                failure = failures.reason(error)
                if failure and is_final(failure):
                    raise failure from error
                if failures.cancelled(error) or attempt + 1 == tries:
                    break
                print(f"dl_spark: the workers' stage failed ({failures.sentence(error)}); it "
                      "is started again", file=sys.stderr)
                self._await_places(master)
            master.end()
            if master.status not in (0, 75):
                raise master.failure()
            raise Failure(f"the workers' stage ended: {failures.sentence(error)}; what was "
                          "learnt is saved, and fit(..., resume=True) goes on", 75) from error
        finally:
            if self._job.is_alive():
                self._context.cancelJobsWithTag(self._tag)
                self._job.join(LAST_TASKS)

    def _start(self, attempt):
        from pyspark import InheritableThread

        def job():
            self._context.addJobTag(self._tag)
            self._context.setLocalProperty("spark.job.description", "dl_spark.fit")
            try:
                rdd = self._context.parallelize(range(self._count), self._count)
                if self._profile:
                    rdd = rdd.withResources(self._profile)
                rdd.barrier().mapPartitions(self._task(attempt)).collect()
                self._events.put(("job", None))
            except Exception as error:
                self._events.put(("job", error))

        self._job = InheritableThread(target=job, daemon=True)
        self._job.start()

    def _end_of(self, master):
        """None: all is done.  Else why the job failed, the master being there."""
        who, result = self._events.get()
        if who == "master":
            if result:
                raise master.failure()
            self._job.join(LAST_TASKS)
            return None
        try:
            # Workers that are done are so as the master is; those that fail may
            # do so as it did, which then has the reason.
            _, status = self._events.get(timeout=LAST_WORD if result else None)
        except queue.Empty:
            return result
        if status:
            raise master.failure()
        return None

    def _await_places(self, master):
        """Until executors have come back; Spark would look every 15 s."""
        end = time.monotonic() + PLACES
        while (time.monotonic() < end and master.runs()
               and places(self._context, self._profile) < self._count):
            time.sleep(0.2)


def is_final(failure):
    """Whether a worker would fail so again when the stage is started again."""
    return failure.status in FINAL and not (failure.status == 69 and PASSES.search(str(failure)))


def places(context, profile):
    """How many tasks executors have room for at once."""
    scala = context._jsc.sc()
    return scala.maxNumConcurrentTasks(
        profile._java_resource_profile if profile
        else scala.resourceProfileManager().defaultResourceProfile())
