"""What of dl_spark needs no Spark."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import unittest
import zipfile

import dl_spark
from dl_spark import model as models
from dl_spark import labels, settings, tools
from dl_spark.chunks import RowChunk, encode, row_chunks
from dl_spark.columns import Columns

ROOT = os.environ["DL_TEST_ROOT"]
NETWORK = {"input": {"shape": [2]},
           "layers": [{"type": "output", "units": 3, "loss": "negative_log_likelihood"}]}


class Settings(unittest.TestCase):
    def test_sharing(self):
        training = dl_spark.SharedTrainingMaster(
            batchSizePerWorker=64, workerPrefetchNumBatches=2, rngSeed=7,
            thresholdAlgorithm=dl_spark.TargetSparsityThresholdAlgorithm(1e-3),
            residualPostProcessor=dl_spark.ResidualClippingPostProcessor(4, 10),
            voidConfiguration=dl_spark.VoidConfiguration(
                unicastControllerPort=40123, controllerAddress="10.0.0.1",
                meshBuildMode="MESH"))
        self.assertEqual(" ".join(training.options),
                         "--mode sharing --batch 64 --prefetch 2 --seed 7 "
                         "--threshold target:0.001 --clip 4 --clip-every 10 --topology tree")
        self.assertEqual((training.bind.port, training.bind.address), (40123, "10.0.0.1"))
        for given, want in ((dl_spark.FixedThresholdAlgorithm(1e-4), "fixed:0.0001"),
                            (dl_spark.AdaptiveThresholdAlgorithm(), "adaptive"),
                            (dl_spark.AdaptiveThresholdAlgorithm(0.01), "adaptive:0.01")):
            self.assertEqual(dl_spark.SharedTrainingMaster(thresholdAlgorithm=given)
                             .options[-2:], ["--threshold", want])
        self.assertEqual(dl_spark.SharedTrainingMaster(updatesThreshold=1e-3).options[-1],
                         "adaptive:0.001")
        self.assertEqual(dl_spark.SharedTrainingMaster(
            residualPostProcessor=dl_spark.NoOpResidualPostProcessor()).options[-2:],
            ["--clip-every", "0"])

    def test_averaging(self):
        training = dl_spark.ParameterAveragingTrainingMaster(
            numWorkers=4, batchSizePerWorker=16, averagingFrequency=5, saveUpdater=False)
        self.assertEqual(" ".join(training.options),
                         "--mode averaging --batch 16 --frequency 5 --updater-state reset")
        self.assertEqual(training.workers, 4)
        training = dl_spark.SynchronousTrainingMaster(numWorkers=2, rngSeed=3)
        self.assertEqual((" ".join(training.options), training.workers), ("--mode sync --seed 3", 2))

    def test_what_is_not_known(self):
        for make, word in (
                (lambda: dl_spark.SharedTrainingMaster(batchSizeWorker=1), "batchSizePerWorker"),
                (lambda: dl_spark.SharedTrainingMaster(numWorkers=1), "workers="),
                (lambda: dl_spark.SharedTrainingMaster(thresholdAlgorithm=1e-3), "got 0.001"),
                (lambda: dl_spark.SharedTrainingMaster(32), "as batchSizePerWorker=32"),
                (lambda: dl_spark.VoidConfiguration(4), "unicastControllerPort=4"),
                (lambda: dl_spark.FixedThresholdAlgorithm("1"), "threshold='1': want a number"),
                (lambda: dl_spark.ParameterAveragingTrainingMaster(storageLevel=1), "memory"),
                (lambda: dl_spark.VoidConfiguration(networkMask="a"), "controllerAddress"),
                (lambda: dl_spark.VoidConfiguration(meshBuildMode="STAR"), "PLAIN or MESH")):
            with self.assertRaisesRegex(dl_spark.Failure, word):
                make()

    def test_the_manual_has_every_setting_and_option(self):
        with open(os.path.join(ROOT, "man/dl-spark.7.scd"), encoding="utf-8") as file:
            page = file.read()
        told = subprocess.run(["dl-master", "--help"], capture_output=True, text=True).stdout
        for table in (settings.AVERAGING, settings.SYNCHRONOUS, settings.SHARING, settings.VOID):
            for name, (option, _) in table.items():
                self.assertIn(name, page)
                self.assertRegex(told, rf"{option}\b")
                self.assertIn(option, page)


class Rows(unittest.TestCase):
    columns = Columns().of_network(NETWORK)

    def test_the_network_completes_columns(self):
        self.assertEqual((self.columns.shape, self.columns.classes, self.columns.regression),
                         ((2,), 3, False))
        layers = [{"type": "output", "units": 2, "loss": "mean_squared_error"}]
        numbers = Columns().of_network({"input": {"shape": [2]}, "layers": layers})
        self.assertEqual((numbers.regression, numbers.targets), (True, 2))
        graph = {"inputs": [{"name": "x", "shape": [4]}], "outputs": "y", "nodes": [
            {"name": "y", "type": "output", "units": 5, "loss": "negative_log_likelihood"}]}
        known = Columns().of_network(graph)
        self.assertEqual((known.shape, known.classes), ((4,), 5))
        for shape in (None, [4]):
            with self.assertRaisesRegex(dl_spark.Failure, "several inputs"):
                Columns(shape=shape).of_network(graph | {"inputs": graph["inputs"] * 2})
        for network in ({}, {"input": {}}, {"input": 3}, {"inputs": []}, {"inputs": [{}]}):
            with self.assertRaisesRegex(dl_spark.Failure, "or give shape="):
                Columns().of_network(network)
            self.assertEqual(Columns(shape=[2]).of_network(network).shape, (2,))

    def test_arguments(self):
        self.assertEqual(self.columns.arguments()[-2:], ["--classes", "3"])
        named = Columns(classes=['a', 'b,"c"']).of_network(NETWORK)
        self.assertEqual(named.arguments()[-1], '"a","b,""c"""')
        self.assertEqual(named.without_label().arguments()[-1], "--no-labels")

    def test_numbers(self):
        rows = [([1.0, 2.0], 2), ((3, 4), 0)]
        self.assertEqual(encode(RowChunk(rows), self.columns, 1),
                         struct.pack("<ffiffi", 1, 2, 2, 3, 4, 0))

    def test_bytes_and_images(self):
        columns = Columns(shape=(1, 2, 3), dtype="u8", bgr=True, label=None)
        self.assertEqual(bytes(encode(RowChunk([b"abcdef"]), columns, 1)), b"cbafed")

    def test_labels_by_name_and_by_number(self):
        bytes_of = Columns(classes=["0", "1", "2"], shape=(1,), regression=False).label_bytes()
        self.assertEqual([bytes_of(2), bytes_of("2"), bytes_of(2.0)],
                         [struct.pack("<i", 2)] * 3)
        for classes, same, none in (
                (["zero", "one"], ("one", 1, 1.0, True), (2, "1", 0.5, -1)),
                (["1", "3.0", "0.5"], ("3.0", 3, 3.0), (0, "3")),  # numbers are names
                ([3, 5], (5, "5", 5.0), (0, 1, "five")),
                (3, (1, "1", 1.0), (3, "one"))):
            of = labels.indices(classes)
            self.assertEqual([of[label] for label in same], [1] * len(same))
            self.assertEqual([label for label in none if label in of], [])

    def test_numbers_of_several_axes(self):
        flat = struct.pack("<ffff", 1, 2, 3, 4)
        square = Columns(shape=(2, 2, 1), label=None)
        for value in ([[1, 2], [3, 4]], [[[1], [2]], [[3], [4]]], [(1, 2), [3, 4]], (1, 2, 3, 4)):
            self.assertEqual(bytes(encode(RowChunk([value, value]), square, 1)), flat * 2)
        for value, said in (
                ([[1, 2, 3], [4]], "column 'features' has lists .* of unequal lengths: drop"),
                ([1, [2, 3], 4], "unequal"), ([[[1, 2]], [[3], [4]]], "unequal"),
                ([[1, 2], [3]], "has 3 numbers"), ([[1, 2], [3, None]], "value 4 .* is null"),
                ([None, [1, 2]], "value 1 .* is null"), ([[1, 2], "34"], "want numbers"),
                ("1234", "is '1234', want numbers"), (b"1234", "want numbers")):
            with self.assertRaisesRegex(dl_spark.Failure, "row 3: .*" + said):
                encode(RowChunk([value]), square, 3)
        for element, shape in ((1, (1,)), ((1, 2), (2,)), ([1, 2], (2,)), (([1, 2], 9), (2,))):
            self.assertEqual(bytes(encode(RowChunk([element]), Columns(shape=shape, label=None), 1)),
                             flat[:4 * shape[0]])

    def test_what_is_no_row(self):
        good = ([0.0, 0.0], 1)
        for bad, word in (((None, 1), "row 8: column 'features' is null"),
                          (([1.0], 1), "has 1 numbers"),
                          (([1.0, None], 1), "value 2 .* is null"),
                          (([1.0, 2.0], 3), "is 3, want a class of 0 to 2"),
                          (([1.0, 2.0], None), "'label' is null")):
            with self.assertRaisesRegex(dl_spark.Failure, word):
                encode(RowChunk([good, bad]), self.columns, 7)

    def test_chunks(self):
        sizes = [chunk.rows for chunk in row_chunks(range(2500))]
        self.assertEqual(sizes, [1024, 1024, 452])


class Tools(unittest.TestCase):
    def test_find(self):
        self.assertTrue(os.access(tools.find("dl-shard"), os.X_OK))
        with self.assertRaisesRegex(dl_spark.Failure, "dl-nothing is not on host .*--archives"):
            tools.find("dl-nothing")
        os.makedirs("dl-tools/dl-tools-9/bin")
        for name in ("dl-master", "dl-nothing"):
            with open(f"dl-tools/dl-tools-9/bin/{name}", "w", encoding="utf-8"):
                os.chmod(f"dl-tools/dl-tools-9/bin/{name}", 0o755)
        self.assertTrue(tools.find("dl-nothing").endswith("dl-tools-9/bin/dl-nothing"))

    def test_archives(self):
        paths = []
        for name in ("pyspark.zip", "py4j-0-src.zip", "spark-core_2.13-4.jar", "users.zip"):
            paths.append(os.path.abspath(name))
            with zipfile.ZipFile(name, "w") as archive:
                archive.writestr(f"of_{name[:5].replace('-', '_')}.py", "")
        sys.path += paths
        try:
            for module in ("of_pyspa", "of_py4j_", "of_spark", "of_users"):
                importlib.import_module(module)
            self.assertLessEqual(set(paths), set(sys.path_importer_cache))
            tools.forget_archives()
            self.assertEqual([path for path in paths if path in sys.path_importer_cache],
                             paths[3:])
            self.assertIsNotNone(importlib.util.find_spec("of_pyspa"))
        finally:
            del sys.path[-len(paths):]

    def test_shared_folder(self):
        self.assertEqual(tools.shared_folder("file:///a/b"), "/a/b")
        for name in ("hdfs://a/b", "a/b"):
            with self.assertRaises(dl_spark.Failure):
                tools.shared_folder(name)

    def test_pipeline(self):
        with tools.Pipeline([["cat"], ["tr", "a", "b"]], iter([b"a\n", b"c\n"])) as pipeline:
            self.assertEqual(pipeline.output.read(), b"b\nc\n")
            pipeline.finish()

    def test_a_command_that_fails_says_why(self):
        with self.assertRaisesRegex(dl_spark.Failure, "it was cut short") as raised:
            with tools.Pipeline([["dl-preprocess", "raw", "--shape", "2", "--dtype", "u8",
                                  "--no-labels"], ["cat"]], iter([b"abc"])) as pipeline:
                pipeline.output.read()
                pipeline.finish()
        self.assertEqual(raised.exception.status, 65)

    def test_an_error_of_the_feed_is_raised_and_cuts_the_stream(self):
        def feed():
            yield b"ab"
            raise ValueError("of the feed")
        with self.assertRaisesRegex(ValueError, "of the feed"):
            with tools.Pipeline([["cat"], ["cat"]], feed()) as pipeline:
                pipeline.output.read()
                pipeline.finish()

    def test_models(self):
        header = json.dumps({"__metadata__": {"network": json.dumps(NETWORK),
                                              "data.classes": '["a","b","c"]'}}).encode()
        with open("m.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
        self.assertEqual(models.read_model("m.safetensors")["data.classes"], ["a", "b", "c"])
        self.assertEqual(Columns().of_model(models.read_model("m.safetensors")).classes,
                         ["a", "b", "c"])
        with self.assertRaisesRegex(dl_spark.Failure, "no model"):
            models.read_model(os.path.join(ROOT, "README.md"))


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout))
