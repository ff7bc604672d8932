"""TrainingMaster's settings by the names that Deeplearning4j's users know, and
what they are called here: one table for each way of training."""

from dl_spark.arguments import check_numbers
from dl_spark.tools import Failure

# Name: (dl-master's option or None, what it is).  None: done elsewhere, or has no
# meaning here; the text says which.  dl-spark(7) shows the same tables.
COMMON = {
    "batchSizePerWorker": ("--batch", "examples in a worker's mini-batch"),
    "workerPrefetchNumBatches": ("--prefetch", "mini-batches read ahead"),
    "rngSeed": ("--seed", "of the order of examples"),
}
SYNCHRONOUS = COMMON | {
    "numWorkers": ("--workers", "replicas, and tasks of the barrier stage"),
}
AVERAGING = SYNCHRONOUS | {
    "averagingFrequency": ("--frequency", "mini-batches between two averages"),
    "saveUpdater": ("--updater-state", "True: average, False: reset"),
}
SHARING = COMMON | {
    "thresholdAlgorithm": ("--threshold", "one of the ...ThresholdAlgorithm"),
    "updatesThreshold": ("--threshold", "a number: adaptive, beginning with it"),
    "residualPostProcessor": ("--clip", "one of the ...ResidualPostProcessor"),
    "voidConfiguration": ("--bind", "a VoidConfiguration"),
}
VOID = {
    "unicastControllerPort": ("--bind", "port of dl-master; 0: a free one"),
    "controllerAddress": ("--bind", "address of the driver that executors reach"),
    "meshBuildMode": ("--topology", "PLAIN: star, MESH: tree"),
}
# Settings without a counterpart, and what to do.
GONE = {
    "aggregationDepth": "the topology follows from the number of workers; "
                        "see TOPOLOGY in dl-exchange(7)",
    "collectTrainingStats": "the run directory always has them, dl-run(5)",
    "debugLongerIterations": "leave it out",
    "encodingDebugMode": "leave it out",
    "exportDirectory": "it is the argument directory= of fit()",
    "numWorkers": "it is the argument workers= of fit()",
    "rddDataSetNumExamples": "a row is an example; leave it out",
    "rddTrainingApproach": "data are always exported; leave it out",
    "repartitionData": "call repartition() of the DataFrame",
    "repartitionStrategy": "call repartition() of the DataFrame",
    "repartitioner": "call repartition() of the DataFrame",
    "storageLevel": "nothing is held in memory; leave it out",
    "storageLevelStreams": "nothing is held in memory; leave it out",
    "trainingHooks": "read events.jsonl of the run directory, dl-run(5)",
    "transport": "leave it out",
    "workerPeriodicGCFrequency": "there is no garbage collector; leave it out",
    "workerTogglePeriodicGC": "there is no garbage collector; leave it out",
    "workersPerNode": "a worker is a task: give workers= and threads= of fit()",
    "networkMask": "dl-master binds spark.driver.host; or give controllerAddress",
}


class FixedThresholdAlgorithm:
    def __init__(self, threshold):
        check_numbers("FixedThresholdAlgorithm", threshold=threshold)
        self.options = ["--threshold", f"fixed:{threshold:g}"]


class AdaptiveThresholdAlgorithm:
    def __init__(self, initialThreshold=None):
        if initialThreshold is not None:
            check_numbers("AdaptiveThresholdAlgorithm", initialThreshold=initialThreshold)
        self.options = ["--threshold", "adaptive" if initialThreshold is None
                        else f"adaptive:{initialThreshold:g}"]


class TargetSparsityThresholdAlgorithm:
    """sparsityTarget: the share that is sent; initialThreshold is found."""

    def __init__(self, sparsityTarget=1e-3):
        check_numbers("TargetSparsityThresholdAlgorithm", sparsityTarget=sparsityTarget)
        self.options = ["--threshold", f"target:{sparsityTarget:g}"]


class ResidualClippingPostProcessor:
    def __init__(self, thresholdMultipleClipValue=5.0, frequency=5):
        check_numbers("ResidualClippingPostProcessor", frequency=frequency,
                      thresholdMultipleClipValue=thresholdMultipleClipValue)
        self.options = ["--clip", f"{thresholdMultipleClipValue:g}",
                        "--clip-every", str(frequency)]


class NoOpResidualPostProcessor:
    options = ["--clip-every", "0"]


class _Settings:
    bind = None

    def __init__(self, mode, table, unnamed, given):
        _check(type(self).__name__, unnamed, given, table)
        self.workers = given.get("numWorkers")
        self.options = ["--mode", mode]
        for name, (option, _) in COMMON.items():
            if name in given:
                self.options += [option, str(given[name])]


class VoidConfiguration:
    def __init__(self, *unnamed, **given):
        _check("VoidConfiguration", unnamed, given, VOID)
        self.port = given.get("unicastControllerPort", 0)
        self.address = given.get("controllerAddress")
        mode = given.get("meshBuildMode")
        topology = {None: None, "PLAIN": "star", "MESH": "tree"}
        if mode not in topology:
            raise Failure(f"meshBuildMode: want PLAIN or MESH, got '{mode}'", 64)
        self.options = ["--topology", topology[mode]] if mode else []


class ParameterAveragingTrainingMaster(_Settings):
    """Synchronous averaging of parameters: dl-master --mode averaging."""

    def __init__(self, *unnamed, **given):
        super().__init__("averaging", AVERAGING, unnamed, given)
        if "averagingFrequency" in given:
            self.options += ["--frequency", str(given["averagingFrequency"])]
        if "saveUpdater" in given:
            self.options += ["--updater-state",
                             "average" if given["saveUpdater"] else "reset"]


class SynchronousTrainingMaster(_Settings):
    """Each step by all: dl-master --mode sync.  Deeplearning4j has none."""

    def __init__(self, *unnamed, **given):
        super().__init__("sync", SYNCHRONOUS, unnamed, given)


class SharedTrainingMaster(_Settings):
    """Asynchronous sharing of updates: dl-master --mode sharing."""

    def __init__(self, *unnamed, **given):
        super().__init__("sharing", SHARING, unnamed, given)
        if "updatesThreshold" in given:
            given = {"thresholdAlgorithm":
                     AdaptiveThresholdAlgorithm(given["updatesThreshold"])} | given
        for name in ("thresholdAlgorithm", "residualPostProcessor", "voidConfiguration"):
            if name not in given:
                continue
            if not hasattr(given[name], "options"):
                raise Failure(f"{name}: want {SHARING[name][1]}, got "
                              f"{given[name]!r:.50}", 64)
            self.options += given[name].options
        if "voidConfiguration" in given:
            self.bind = given["voidConfiguration"]


def _check(who, unnamed, given, table):
    import difflib
    if unnamed:
        raise Failure(f"{who} takes its settings by their names, as "
                      f"{next(iter(table))}={unnamed[0]!r:.50}")
    for name in given:
        if name in table:
            continue
        if name in GONE:
            raise Failure(f"{who}: {name} has no counterpart: {GONE[name]}", 64)
        near = difflib.get_close_matches(name, table, 1)
        raise Failure(f"{who} has no setting {name}"
                      + (f"; did you mean {near[0]}?" if near else
                         f" but {', '.join(table)}"), 64)
