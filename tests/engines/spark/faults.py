"""An executor killed mid-fit, a job cancelled, the driver killed: nothing is
lost, nothing is left running.  The argument says which."""

import glob
import os
import signal
import subprocess
import sys
import tempfile
import threading

import dl_spark
from common import (EXAMPLES, ancestor, await_, check_events, digits, events, expect,
                    processes, refused, session)
from dl_spark.folder import Folder

HERE = os.getcwd()
EPOCHS = 40  # many seconds: another fit() is refused after two
NETWORK = os.path.join(EXAMPLES, "digits.json")
RUN = f"{HERE}/run"


def start(**settings):
    # Slow enough to be caught in the middle.
    return session(spark__executorEnv__DL_FAILPOINTS="worker.after_batch=sleep:20ms",
                   **settings)


def fit(spark, resume=False):
    rows = spark.sparkContext.parallelize([(bytes(p), y) for p, y in digits()], 3)
    return dl_spark.fit(rows, NETWORK, directory=RUN, epochs=EPOCHS, workers=3, resume=resume,
                        training=dl_spark.SharedTrainingMaster(batchSizePerWorker=16))


def under_way():
    return len(events(RUN, "epoch")) >= 2


def whole(report):
    expect("every example of every epoch counts once",
           report["examples"] == EPOCHS * len(digits()), report["examples"])
    check_events(RUN)


def none_left(*names):
    for name in names:
        await_(f"the end of {name}", lambda: not processes(name), 120)
    print(f"no {', '.join(names)} is left")


def executor():
    spark = start()
    killed = []

    def kill():
        await_("training", under_way, 300)
        worker = sorted(processes("dl-worker"))[0]
        killed.append(worker)
        os.kill(ancestor(worker, "java"), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    _, report = fit(spark)
    killer.join()
    expect("an executor was killed", len(killed) == 1)
    joined = {event["name"] for event in events(RUN, "join")}
    expect("the stage was started again", any(name.endswith("+1") for name in joined), joined)
    whole(report)
    spark.stop()
    none_left("dl-worker", "dl-master")


def cancel():
    spark = start()
    # As the page of Spark's UI does.
    def cancel_it():
        await_("training", under_way, 300)
        before = sorted(glob.glob(f"{RUN}/**", recursive=True))
        refused("another fit() in the directory", lambda: fit(spark), "at work")
        gone = set(before) - set(glob.glob(f"{RUN}/**", recursive=True))
        expect("and touches nothing", not [name for name in gone if "fit-shards" in name], gone)
        spark.sparkContext.cancelAllJobs()

    canceller = threading.Thread(target=cancel_it)
    canceller.start()
    try:
        fit(spark)
        raise SystemExit("FAILED: was not cancelled")
    except dl_spark.Failure as failure:
        expect("cancelled: status 75", failure.status == 75, failure)
        expect("says how to go on", "resume=True" in str(failure), failure)
    canceller.join()
    none_left("dl-worker", "dl-master")
    _, report = fit(spark, resume=True)
    whole(report)
    expect("it went on, and did not start over", events(RUN, "resume"))
    spark.stop()


def driver():
    code = "import faults; faults.fit(faults.start())"
    program = subprocess.Popen([sys.executable, "-c", code])
    await_("training", under_way, 300)
    program.kill()
    program.wait()
    none_left("dl-worker", "dl-master")
    print("the driver was killed")
    Folder(RUN, resume=True).close()  # waits for the keeper of the master
    left = os.listdir(f"{RUN}/model.safetensors.run")
    expect("the master saved its state", events(RUN, "stop") and not
           [name for name in left if name.endswith(".tmp")], left)
    expect("no key is left", not glob.glob(f"{tempfile.gettempdir()}/dl-spark-keys-*"))
    spark = start()
    _, report = fit(spark, resume=True)
    whole(report)
    expect("it went on, and did not start over", events(RUN, "resume"))
    expect("the shards are those of before", len(glob.glob(f"{RUN}/fit-shards/train-*")) == 1)
    # The master killed outright: fit says so, and its workers end.
    killer = threading.Thread(target=lambda: (
        await_("the second run", lambda: processes("dl-worker") and under_way(), 300),
        [os.kill(pid, signal.SIGKILL) for pid in processes("dl-master")]))
    killer.start()
    try:
        fit(spark)
        raise SystemExit("FAILED: the master was not missed")
    except dl_spark.Failure as failure:
        expect("a master that was killed is missed",
               failure.status == 75 and "signal 9" in str(failure), failure)
    killer.join()
    none_left("dl-worker", "dl-master")
    _, report = fit(spark, resume=True)
    whole(report)
    spark.stop()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
