"""What the tests of dl_spark share."""

import glob
import gzip
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.environ["DL_TEST_ROOT"]
EXAMPLES = os.path.join(ROOT, "scripts/share/examples")


def session(master="local-cluster[3,1,1024]", **settings):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder
    if master:  # else spark-submit says
        builder = builder.master(master)
    told = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g",
            "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
            "spark.sql.shuffle.partitions": "3",
            # Executors that are killed come back at once.
            "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s"}
    told.update({key.replace("__", "."): value for key, value in settings.items()})
    for key, value in told.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def digits():
    """(64 pixels of 0..16, class) of the examples."""
    with gzip.open(os.path.join(EXAMPLES, "digits.csv.gz"), "rt") as file:
        rows = [[int(value) for value in line.split(",")] for line in file]
    return [(row[:-1], row[-1]) for row in rows]


def tool(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"FAILED: {command}: {done.stderr}")
    return done.stdout


def accuracy(report):
    return report["evaluations"][0]["metrics"]["accuracy"]


def check_events(directory):
    tool(os.path.join(ROOT, "tests/cluster/check-events"),
         os.path.join(directory, "model.safetensors.run"))


def events(directory, kind):
    path = os.path.join(directory, "model.safetensors.run/events.jsonl")
    found = []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n") and f'"{kind}"' in line:
                    event = json.loads(line)
                    if event["event"] == kind:
                        found.append(event)
    except FileNotFoundError:
        pass
    return found


def await_(what, condition, limit=120):
    end = time.monotonic() + limit
    while not (result := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: waited {limit} s for {what}")
        time.sleep(0.05)
    return result


def processes(name):
    """pids of the processes called `name` that this test started, which have its
    folder in their environment."""
    mark = os.environ["SPARK_LOCAL_DIRS"].encode()
    found = []
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/comm", encoding="utf-8") as file:
                if file.read().strip() != name:
                    continue
            with open(folder + "/environ", "rb") as file:  # empty of a zombie
                if mark in file.read():
                    found.append(int(os.path.basename(folder)))
        except OSError:
            pass
    return found


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def ancestor(pid, name):
    """The nearest process above pid that is called `name`."""
    while pid > 1:
        pid = parent_of(pid)
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return pid
    raise SystemExit(f"FAILED: no {name} above")


def page_blocks():
    """The examples of dl-spark(7), in order."""
    with open(os.path.join(ROOT, "man/dl-spark.7.scd"), encoding="utf-8") as file:
        blocks = re.findall(r"^```\n(.*?)^```$", file.read(), re.M | re.S)
    return [block.replace("\\\\", "\\") for block in blocks]


def refused(what, action, *words):
    """The action raises a Failure that has the words."""
    from dl_spark import Failure
    try:
        result = action()
        if hasattr(result, "collect"):
            result.collect()
    except Exception as error:
        said = str(error)
        if not isinstance(error, Failure):
            found = re.search(r"dl_spark\.tools\.Failure: (.*)", said)
            if not found:
                raise
            said = found[1]
        missing = [word for word in words if word not in said]
        if missing:
            raise SystemExit(f"FAILED: {what}: no {missing} in: {said}") from None
        print(f"{what}: refused")
        return
    raise SystemExit(f"FAILED: {what}: was not refused")


def expect(what, condition, shown=""):
    if not condition:
        raise SystemExit(f"FAILED: {what} {shown}")
    print(what)
    sys.stdout.flush()
