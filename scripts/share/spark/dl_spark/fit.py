"""Trains a network on a DataFrame or RDD: shards, dl-master on the driver, and
dl-workers as a barrier stage."""

import json
import os
import queue
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

from dl_spark import arguments, partitions, tools
from dl_spark.columns import columns_of
from dl_spark.failures import only_failures
from dl_spark.folder import Folder
from dl_spark.master import Master, make_keys, make_server_key
from dl_spark.settings import SharedTrainingMaster
from dl_spark.stage import Stage, places
from dl_spark.tools import Failure
from dl_spark.worker import work

WAIT = "10m"  # for workers: as long as Spark tries to find places for a stage
REGISTER = 30  # seconds for executors to come, as Spark's own first stage gives them
PAUSE = 0.2    # between two looks at how many have


@only_failures
def fit(data, network, *, directory, training=None, epochs=1, workers=None,
        threads=None, evaluation_data=None, resume=False,
        options=(), worker_options=(), tools_folder=None, **how):
    """Trains; returns (path of the model, report of dl-master --json).

    data: a DataFrame, or an RDD of (features, label); or the pattern of shards
        that write_shards() or dl-shard wrote, and likewise evaluation_data.  None
        goes on with what is there.
    network: file on the driver, dl-network(5).
    directory: absolute path of a folder on storage that all hosts see.  Shards,
        the run directory and the model are put there, of one fit() at a time.
    training: a SharedTrainingMaster (the default), ParameterAveragingTrainingMaster
        or SynchronousTrainingMaster.
    workers: tasks of the barrier stage, each a dl-worker; None: as many as the
        executors have room for.
    threads: of each worker; None: spark.task.cpus.
    evaluation_data: held-out data, evaluated after each epoch.
    resume: go on with what an earlier fit() left in `directory`; evaluation_data,
        where they are given, take the place of its.
    options, worker_options: more options of dl-master and dl-worker.
    how: features=, label=, shape=, classes=, regression=, see Columns.

    Raises Failure; its status is dl-master's, or of a worker that another start does
    not mend.  With 75 the state is saved, and fit(..., resume=True) goes on.
    """
    if data is None and not resume:
        raise Failure("data=None: only resume=True goes on without, with what is in directory=")
    context = partitions.context_of(data, patterns=True)
    if evaluation_data is not None:
        partitions.context_of(evaluation_data, patterns=True, name="evaluation_data")
    _check_cluster(context)
    training = training or SharedTrainingMaster()
    _check_arguments(training, options, worker_options, how)
    arguments.check_counts(workers=workers, threads=threads)
    arguments.check_counts(0, epochs=epochs)  # 0 with --pretrain
    network = arguments.path("network", network)
    program = tools.find("dl-master", tools_folder)
    task_cpus = int(context.getConf().get("spark.task.cpus", "1"))
    threads = threads or task_cpus
    profile = _profile(context, threads, task_cpus)
    events = queue.Queue()
    with Folder(tools.shared_folder(directory), resume) as folder, \
            TemporaryDirectory(prefix="dl-spark-keys-") as keys, \
            Master(keys, folder.lock, lambda status: events.put(("master", status))) as master:
        with ThreadPoolExecutor(1) as beside:  # while shards are written
            bind = beside.submit(_bind, context, training.bind)
            key = beside.submit(make_server_key, keys, tools_folder)
            shards = folder.shards({"train": data, "eval": evaluation_data}, network,
                                   tools_folder, **how)
        key.result()
        workers = _room(context, profile, training.workers or workers)
        model = os.path.join(folder.path, "model.safetensors")
        command = [program, "--net", network, "--data", shards["train"], "--output", model,
                   "--bind", bind.result(), "--json", "--epochs", str(epochs),
                   "--min-workers", str(workers), *training.options, *options]
        if training.workers or arguments.has(options, "--staleness"):
            command += ["--workers", str(workers)]
        if shards["eval"]:
            command += ["--eval-data", shards["eval"]]
        if not resume:
            command.append("--fresh")
        if not arguments.has(options, "--wait"):
            command += ["--wait", WAIT]
        master.start(command)
        try:
            first = make_keys(keys, workers, 0, tools_folder)  # while it starts
        finally:
            endpoint = master.endpoint()  # a reason of its own comes first
        if endpoint is not None:
            # All was checked, and --fresh has removed the run of before.
            folder.keep(shards)

            def task(attempt):
                own = make_keys(keys, workers, attempt, tools_folder) if attempt else first
                return work(endpoint, attempt, own, threads, worker_options, tools_folder)
            tries = int(context.getConf().get("spark.stage.maxConsecutiveAttempts", "4"))
            Stage(context, workers, profile, task, events).run(master, tries)
    return model, json.loads(master.report)


def _check_arguments(training, options, worker_options, how):
    if not hasattr(training, "options"):
        raise Failure(f"training={training!r:.50}: want a SharedTrainingMaster, a "
                      "ParameterAveragingTrainingMaster or a SynchronousTrainingMaster")
    arguments.check_options("options", options, "dl-master")
    arguments.check_options("worker_options", worker_options, "dl-worker")
    columns_of(how)


def _check_cluster(context):
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        raise Failure(
            "spark.dynamicAllocation.enabled is true: Spark has no barrier stages with "
            "it, which give all workers their places at once; submit with "
            "--conf spark.dynamicAllocation.enabled=false and --num-executors N", 78)


def _profile(context, threads, task_cpus):
    """Stage-level scheduling for a worker of more threads than a task has."""
    if threads == task_cpus or context.master.startswith("local["):
        return None
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests
    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(threads)).build


def _room(context, profile, wanted):
    """The number of workers; refuses more than would ever start together."""
    end = time.monotonic() + (0 if context.master.startswith("local[") else REGISTER)
    while (room := places(context, profile)) < (wanted or 1) and time.monotonic() < end:
        time.sleep(PAUSE)
    if wanted is None:
        wanted = room
    if wanted < 1 or wanted > room:
        raise Failure(
            f"{wanted} workers are wanted, and the executors have room for {room} tasks "
            "at once: ask for more executors or cores, or give fewer workers= or "
            "threads=", 69)
    return wanted


def _bind(context, void):
    """An address that executors reach: the one at which they reach the driver."""
    address = (void and void.address) or context.getConf().get("spark.driver.host")
    port = void.port if void else 0
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0][4][0]
        with socket.socket(socket.AF_INET6 if ":" in found else socket.AF_INET) as probe:
            probe.bind((found, 0))
    except OSError as error:
        raise Failure(
            f"the driver's address '{address}' is none of this host ({error.strerror}): "
            "give one that executors reach with spark.driver.host, or "
            "VoidConfiguration(controllerAddress=)", 78) from None
    return f"tcp://[{found}]:{port}" if ":" in found else f"tcp://{found}:{port}"
