"""What a task of the barrier stage does: it runs a dl-worker and stays until
that ends."""

import collections
import os
import subprocess
import sys

from dl_spark import tools
from dl_spark.failures import from_task
from dl_spark.tools import Failure

LINES = 30    # of a worker that failed, in the exception
GRACE = 30    # seconds after SIGTERM; dl-worker takes DL_GRACE, 25 s, itself


def work(endpoint, attempt, keys, threads, options, tools_folder):
    """A function for mapPartitions of a barrier stage.

    attempt: how often the stage was started before.  keys[rank]: what
    dl-keygen --once printed for this start.
    """
    def task(_):
        from pyspark import BarrierTaskContext
        tools.fill_standard_files()
        tools.forget_archives()
        context = BarrierTaskContext.get()
        rank, size = context.partitionId(), len(context.getTaskInfos())
        host = os.uname().nodename
        name = f"{host}:{rank}" + (f"+{attempt}" if attempt else "")
        command = [_find(tools_folder), "--master", endpoint,
                   "--keys", "-", "--exit-on-stdin-eof", "--name", name,
                   "--threads", str(threads), *options]
        environment = dict(os.environ, DL_RANK=str(rank), DL_WORLD_SIZE=str(size))
        # Standard input brings the key and then tells that this task is alive:
        # Spark kills the processes of tasks without a word.
        worker = subprocess.Popen(command, stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=environment)
        last = collections.deque(maxlen=LINES)
        try:
            try:
                worker.stdin.write(keys[rank])
                worker.stdin.flush()
            except BrokenPipeError:
                pass  # it says why
            for line in worker.stderr:
                line = line.decode(errors="replace")
                last.append(line)
                sys.stderr.write(line)
            status = worker.wait()
        finally:
            _end(worker)
        if status:
            raise from_task(Failure(f"dl-worker {name} on {host} ended with {status}: "
                                    + tools.sentence_of("".join(last)), status))
        yield name
    return task


def _find(tools_folder):
    try:
        return tools.find("dl-worker", tools_folder)
    except Failure as failure:
        raise from_task(failure) from None


def _end(worker):
    if worker.poll() is not None:
        return
    worker.terminate()
    try:
        worker.wait(GRACE)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
