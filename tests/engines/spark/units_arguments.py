"""What the functions of dl_spark are called with, and what they refuse."""

import os
import subprocess
import sys
import types
import unittest

import dl_spark
from dl_spark import arguments, labels
from dl_spark import model as models
from dl_spark.columns import Columns
from dl_spark.evaluate import _check as check_bars
from dl_spark.evaluate import _split as split
from dl_spark.predict import _check_top as check_top
from dl_spark.predict import _refuse_taken as refuse_taken


class Arguments(unittest.TestCase):
    def refused(self, action, said, status=64):
        with self.assertRaisesRegex(dl_spark.Failure, said) as raised:
            action()
        self.assertEqual(raised.exception.status, status)

    def test_types(self):
        for wrong, said in (
                ({"features": ["a", "b"]}, r"features=\['a', 'b'\]: want the name of a .*F.array"),
                ({"label": object()}, "label=<object"),
                ({"shape": "8,8,1"}, "shape='8,8,1': want a list"),
                ({"shape": [8, 0]}, "shape="), ({"shape": []}, "shape="),
                ({"classes": "a,b"}, "want a list of names"), ({"classes": 1}, "of 2 to 65536"),
                ({"classes": 10**9}, "of 2 to 65536"), ({"classes": ["a"]}, "of 2 to 65536"),
                ({"classes": ["a", ""]}, "'' is no name"),
                ({"classes": ["a", "b\0"]}, "no name"),
                ({"classes": ["a", None]}, "None is no name"),
                ({"classes": [1, "1"]}, "twice"), ({"regression": "yes"}, "want True or False")):
            self.refused(lambda: Columns(**wrong), said)
        self.refused(lambda: arguments.path("network", {"input": {}}), "network=.*want a path")
        self.refused(lambda: arguments.check_counts(top=1.5), "top=1.5: want a whole number")
        arguments.check_counts(0, top=0, threads=None)

    def test_labels_that_cannot_be_names(self):
        self.assertEqual(labels.found(["b", None, 1], "y"), ["1", "b"])
        for found, said in ((["a", ""], ".*empty: drop such rows"), (["a"], "1 different"),
                            (["a", "b\0"], ".*NUL")):
            self.refused(lambda: labels.found(found, "y"), "column 'y' has " + said, 65)

    def test_options(self):
        for tool, given, said in (
                ("dl-master", ["--batch", "8", "--local=2"], "--local of dl-master cannot be given: w"),
                ("dl-master", ["-oX"], "-o of dl-master is directory= here"),
                ("dl-master", ["--fresh"], "resume=False"), ("dl-master", ["--dry-run"], "other work"),
                ("dl-worker", ["--keys", "x"], "sees to it"), ("dl-eval", ["--merge"], "--merge"),
                ("dl-infer", ["--output-of", "x"], "run dl-infer itself"), ("dl-infer", ["--top=3"], "top="),
                ("dl-eval", "--min accuracy=1", "list of texts"), ("dl-eval", [3], "list of texts"),
                ("dl-eval", None, "list of texts")):
            self.refused(lambda: arguments.check_options("options", given, tool), said)
        arguments.check_options("options", ("--batch=8", "--outer-rate", "-1", "-v"), "dl-master")

    def test_refused_options_are_options(self):
        for tool, given in arguments.GIVEN.items():
            told = subprocess.run([tool, "--help"], capture_output=True, text=True).stdout
            for names in (given, *(names for names, _ in arguments.REFUSED[tool])):
                for name in names:
                    self.assertRegex(told, rf"(?m)^ .*{name}\b")

    def test_what_judges_goes_to_the_merge(self):
        self.assertEqual(split(["--batch", "8", "--min", "accuracy=1", "--max=loss=2", "-v", "--min",
                                "--max"]),
                         (["--batch", "8", "-v"], ["--min", "accuracy=1", "--max=loss=2", "--min", "--max"]))

        self.refused(lambda: split(["--batch", "8", "--min"]), "--min wants")

    def test_what_judges_is_looked_at_first(self):
        model = os.path.join(os.environ["DL_TEST_ROOT"], "tests/cli/dl-eval/pets.safetensors")
        # The driver need not have the executors' devices.
        told = ["--device", "cuda:99", "--precision", "bfloat16"]
        check_bars(model, told, ["--min=accuracy=2", "--max", "recall/dog=0"], None)
        for bars, said in ((["--max=acuracy=1"], "no metric 'acuracy'; did you mean 'accuracy'"),
                           (["--min", "recall/fox=1"], "no class or output 'fox'"),
                           (["--min", "accuracy"], "--min: want METRIC=NUMBER, got 'accuracy'")):
            self.refused(lambda: check_bars(model, told, bars, None), said)

    def test_top(self):
        def model(layer, classes=None):
            return {"network": {"layers": [layer]}, "data.classes": classes}
        ten = model({"units": 10, "activation": "softmax"})
        pair = model({"units": 1, "activation": "sigmoid"}, ["no", "yes"])
        line = model({"units": 1, "activation": "identity"})
        self.assertEqual([models.named_classes(each) for each in (ten, pair, line)], [10, 2, 0])
        check_top(10, ten)
        check_top(1, line)
        self.refused(lambda: check_top(11, ten), "top=11: the model has 10 classes")
        self.refused(lambda: check_top(2, line), "names no classes")

    def test_columns_of_one_name(self):
        data = types.SimpleNamespace(columns=["features", "Prediction"])
        refuse_taken(data, ["guess", "probability"])
        self.refused(lambda: refuse_taken(data, ["prediction", "probability"]),
                     "has a column 'prediction' already")
        self.refused(lambda: refuse_taken(data, ["x", "X"]), "called alike")

    def test_an_argument_that_is_none(self):
        with self.assertRaisesRegex(dl_spark.Failure, "no argument lable= but features=, label="):
            dl_spark.columns.columns_of({"lable": "y"})
        with self.assertRaisesRegex(dl_spark.Failure, "directory=3: want a path"):
            dl_spark.tools.shared_folder(3)
        for action, said in (
                (lambda: dl_spark.fit("x", "net.json"), "^fit.*missing a required argument: 'directory'"),
                (lambda: dl_spark.fit("x", directory="/x"), "missing .*'network'"),
                (lambda: dl_spark.fit("x", "net.json", "/x"), "too many positional"),
                (lambda: dl_spark.fit(None, "net.json", directory="/x"), "data=None: only resume=True")):
            with self.assertRaisesRegex(dl_spark.Failure, said) as raised:
                action()
            self.assertEqual(raised.exception.status, 64)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout))
