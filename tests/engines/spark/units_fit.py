"""What of fit() needs no Spark: its directory, its master, and what it raises."""

import glob
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

import dl_spark
from dl_spark import failures, folder, partitions, stage
from dl_spark.folder import Folder
from dl_spark.master import Master, make_keys, make_server_key

HERE = os.getcwd()
# A dl-master that counts the signals that it gets until its driver is no more, and
# somebody lets it go.
COUNTER = """
import os, signal, sys, time
count = []
signal.signal(signal.SIGTERM, lambda *_: count.append(open("told", "w").close()))
keys = sys.argv[sys.argv.index("--keys") + 1]
there = sys.argv[sys.argv.index("--master-file") + 1]
with open(there + ".new", "w") as file:
    file.write('{"endpoint": "here"}')
os.rename(there + ".new", there)
while not count or os.path.exists(f"/proc/{DRIVER}") or not os.path.exists("go"):
    time.sleep(0.01)
with open("count", "w") as file:
    print(len(count), os.path.exists(f"{keys}/server.key"), file=file)
sys.exit(75)
"""
# A driver with a master, started by a thread that ends, and others that do not.
DRIVER = """
import os, sys, tempfile, threading, time
from dl_spark.folder import Folder
from dl_spark.master import Master, make_server_key
keys = tempfile.mkdtemp(dir=".", prefix="keys-")
locked = Folder(os.path.abspath("run"), False)
def start():
    global master
    master = Master(keys, locked.lock, print)
    make_server_key(keys, None)
    if sys.argv[1]:
        master.start([sys.executable, "-c", f"DRIVER = {os.getpid()}\\n" + sys.argv[1]])
for work in (start, lambda: time.sleep(999), lambda: time.sleep(999)):
    threading.Thread(target=work, daemon=True).start()
while not os.path.exists(f"{keys}/server.key"):
    time.sleep(0.01)
print(master.endpoint() if sys.argv[1] else "nowhere", master.process.pid, flush=True)
time.sleep(999)
"""


def touch(*names):
    for name in names:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w", encoding="utf-8"):
            pass


class Directory(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(HERE, self.id().rpartition(".")[2])

    def shards_of(self, kind):
        return os.path.join(self.path, folder.SHARDS, kind)

    def test_only_what_fit_wrote_and_nobody_named_is_removed(self):
        others = [os.path.join(self.path, name) for name in
                  ("train-shards/part-0.dls", "train-raw/a.csv", "eval-0123abcd/x", "train-x",
                   "fit-shards/train-mine/x", "fit-shards/train-0123abcdef/x")]
        given = [self.shards_of(name) for name in
                 ("train-00000001/part-0.dls", "eval-00000002/part-0.dls")]
        old = [self.shards_of(name) for name in ("train-aaaaaaaa/part-0.dls", "eval-bbbbbbbb/.x")]
        touch(*others, *given, *old)
        os.symlink(os.path.dirname(given[0]), os.path.join(self.path, "link"))
        with Folder(self.path, False) as mine:
            told = mine.shards({"train": f"{self.path}/link/*.dls",
                                "eval": f"{HERE}/../{os.path.basename(HERE)}/"
                                        f"{os.path.basename(self.path)}/*/eval-00000002/*"},
                               "none.json", None)
            self.assertTrue(all(map(os.path.exists, others + given + old)))
            mine.keep(told)
        self.assertEqual([name for name in others + given if not os.path.exists(name)], [])
        self.assertEqual([name for name in old if os.path.exists(os.path.dirname(name))], [])
        with Folder(self.path, True) as mine:  # what is gone on with
            self.assertEqual(mine.shards({"train": None, "eval": None}, None, None), told)
            mine.keep(told)
        self.assertEqual([name for name in given if not os.path.exists(name)], [])

    def test_other_held_out_data_when_it_goes_on(self):
        def go_on(**data):
            with Folder(self.path, True) as mine:
                told = mine.shards({"train": None, "eval": None} | data, "net.json", None)
                mine.keep(told)
            return told

        def write(rows, new, *_, **how):
            touch(f"{new}/part-0.dls")
            return f"{new}/part-*.dls", 1, None

        with self.assertRaisesRegex(dl_spark.Failure, "nothing to go on with.*give data"):
            go_on(eval=[2])
        with mock.patch.object(folder, "write_shards", write):
            first = go_on(train=[1])
            second = go_on(train=[1], eval=[2])
            self.assertEqual((first["eval"], second["train"]), (None, first["train"]))
            third = go_on(eval=[3])
            self.assertNotEqual(second["eval"], third["eval"])
            self.assertEqual(go_on(), third)
        self.assertEqual(sorted(os.listdir(self.shards_of(""))),
                         sorted(os.path.basename(os.path.dirname(each)) for each in third.values()))
        self.assertEqual(go_on(eval="/other/*.dls"), third | {"eval": "/other/*.dls"})
        self.assertEqual(go_on()["eval"], "/other/*.dls")
        self.assertEqual(len(os.listdir(self.shards_of(""))), 1)

    def test_what_came_to_nothing_leaves_what_was_there(self):
        touch(self.shards_of("train-aaaaaaaa/part-0.dls"))
        with self.assertRaises(KeyError), Folder(self.path, False) as mine:
            mine._new = [self.shards_of("train-bbbbbbbb")]
            touch(self.shards_of("train-bbbbbbbb/part-0.dls"))
            raise KeyError
        self.assertEqual(os.listdir(self.shards_of("")), ["train-aaaaaaaa"])

    def test_one_at_a_time(self):
        with mock.patch.object(folder, "TRIES", 2):
            with Folder(self.path, False) as first:
                before = os.listdir(self.path)
                with self.assertRaisesRegex(
                        dl_spark.Failure, f"at work .* process {os.getpid()} on") as raised:
                    Folder(self.path, False)
                self.assertEqual((raised.exception.status, os.listdir(self.path)), (69, before))
                # As a child of multiprocessing, which has all descriptors.
                child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[first.lock])
            Folder(self.path, False).close()
            child.communicate()

    def test_folders_that_cannot_be(self):
        touch(os.path.join(self.path, "file"))
        for name in ("file", "file/below"):
            with self.assertRaisesRegex(dl_spark.Failure, "cannot create .*directory=") as raised:
                Folder(os.path.join(self.path, name), False)
            self.assertEqual(raised.exception.status, 73)

    def test_a_damaged_note(self):
        os.makedirs(self.path)
        for text in ('{"train": ', "[]", '{"train": 3, "eval": null}', '{"eval": null}', "\0"):
            with open(os.path.join(self.path, "shards.json"), "w", encoding="utf-8") as file:
                file.write(text)
            with self.assertRaisesRegex(dl_spark.Failure, "damaged.*remove it") as raised:
                with Folder(self.path, True) as mine:
                    mine.shards({"train": "x"}, None, None)
            self.assertEqual(raised.exception.status, 65)


class Keeper(unittest.TestCase):
    def test_a_driver_that_is_gone_is_one_signal(self):
        run = os.path.join(HERE, "run")
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number), subprocess.Popen(
                    [sys.executable, "-c", DRIVER, COUNTER], stdout=subprocess.PIPE,
                    text=True, start_new_session=True) as driver:
                endpoint, keeper = driver.stdout.readline().split()
                self.assertEqual(endpoint, "here")
                os.killpg(driver.pid, number)  # as YARN does
                driver.wait()
                end = time.monotonic() + 30
                while not os.path.exists("told") and time.monotonic() < end:
                    time.sleep(0.01)
                os.kill(int(keeper), signal.SIGTERM)  # no second one
                with mock.patch.object(folder, "TRIES", 1), \
                        self.assertRaisesRegex(dl_spark.Failure, "at work"):
                    Folder(run, False)  # as long as the master is there
                touch("./go")
                Folder(run, True).close()
                with open("count", encoding="utf-8") as file:
                    self.assertEqual(file.read(), "1 True\n")
                self.assertEqual(glob.glob("keys-*"), [])
                os.remove("go")
                os.remove("told")

    def test_a_driver_that_is_gone_before_its_master_is_there(self):
        with subprocess.Popen([sys.executable, "-c", DRIVER, ""], stdout=subprocess.PIPE,
                              text=True) as driver:
            self.assertRegex(driver.stdout.readline(), "nowhere")
            self.assertEqual(len(glob.glob("keys-*/server.key")), 1)
            driver.kill()
            driver.wait()
            Folder(os.path.join(HERE, "run"), True).close()
            self.assertEqual(glob.glob("keys-*"), [])

    def start(self, *command):
        os.makedirs("keys", exist_ok=True)
        ended = []
        with open(os.devnull, "rb") as lock:
            master = Master("keys", lock.fileno(), ended.append)
        if command:
            make_server_key("keys", None)
            master.start(command)
        return master, ended

    def test_the_end_of_a_master(self):
        for word, status in (("exit 0", 0), ("exit 70", 70), ("kill -9 $$", -9)):
            master, ended = self.start("sh", "-c", "echo said; " + word)
            self.assertEqual(master.process.wait(), status % 256)
            master.end()
            master.end()
            self.assertEqual((master.status, ended, master.report), (status, [status], b"said\n"))
            self.assertEqual(master.failure().status, status if status >= 0 else 75)
            self.assertFalse(os.path.exists("keys"))

    def test_a_master_that_cannot_start(self):
        master, _ = self.start("/nowhere/dl-master")
        with self.assertRaisesRegex(dl_spark.Failure, "cannot run /nowhere/dl-master") as raised:
            master.endpoint()
        self.assertEqual(raised.exception.status, 69)
        master.end()
        master, ended = self.start()
        touch("keys/server.key")
        master.end()
        self.assertEqual((ended, os.path.exists("keys")), ([0], False))

    def test_a_real_one(self):
        with open("net.json", "w", encoding="utf-8") as file:
            json.dump({"input": {"shape": [2]}, "layers": [
                {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}, file)
        made = subprocess.run(["dl-preprocess", "csv", "-q", "--label", "2"], input=b"1,2,0\n3,4,1\n",
                              capture_output=True, check=True)
        with open("two.dls", "wb") as file:
            file.write(made.stdout)
        master, ended = self.start("dl-master", "-q", "--net", "net.json", "--data", "two.dls",
                                   "-o", "m.safetensors", "--bind", "tcp://127.0.0.1:0")
        self.assertRegex(master.endpoint(), r"tcp://127.0.0.1:\d+")
        keys = make_keys("keys", 2, 0, None) + make_keys("keys", 2, 1, None)
        self.assertEqual(len(set(keys)), 4)
        self.assertTrue(all(len(key.split()) == 2 for key in keys))
        master.end()
        self.assertEqual((ended, os.path.exists("keys")), ([75], False))


class Raised(unittest.TestCase):
    def test_everything_is_a_failure(self):
        class Spark(Exception):
            __module__ = "py4j.protocol"
        told = failures.from_task(dl_spark.Failure("partition 0,\nrow 3: is null", 65))
        trace = ("An error occurred: Traceback (most recent call last):\n  File \"a\", line 1\n"
                 "    f()\n{}\n\n\tat org.apache.spark.x\n")
        for error, said, status in (
                (Spark(trace.format(f"dl_spark.tools.Failure: {told}")),
                 "partition 0, row 3: is null", 65),
                (Spark(trace.format("dl_spark.tools.Failure: plain")), "plain", 64),
                (Spark(trace.format("ValueError: of the user")), "ValueError: of the user", 69),
                (Spark("org.apache.spark.SparkException: Job 1 cancelled\n\tat x"),
                 "Job 1 cancelled", 69),
                (FileNotFoundError(2, "No such file", "/x"), "'/x': No such file", 74),
                (TypeError("wrong"), "TypeError: wrong", 70)):
            def function():
                raise error
            with self.assertRaises(dl_spark.Failure) as raised:
                failures.only_failures(function)()
            self.assertEqual((str(raised.exception), raised.exception.status), (said, status))

    def test_what_are_no_data(self):
        for data in (None, [1], {}, 3, "shards-*.dls"):
            with self.assertRaisesRegex(dl_spark.Failure, "want a DataFrame or an RDD;"):
                partitions.context_of(data)
        with self.assertRaisesRegex(dl_spark.Failure, "evaluation_data is of the type list.*or the pattern"):
            partitions.context_of([], True, "evaluation_data")
        for function in (dl_spark.evaluate, dl_spark.predict):
            with self.assertRaisesRegex(dl_spark.Failure, "data is of the type list"):
                function([], "none.safetensors")

    def test_what_another_start_of_the_stage_mends(self):
        for status, said, final in (
                (69, "dl-worker h:0 on h ended with 69: dl-worker: cuda:0: there is no driver", True),
                (69, "not enough memory for this network", True), (64, "a typing mistake", True),
                (69, "no answer from tcp://h:1 within 60 s (connection refused)", False),
                (69, "3 answers of this worker in a row were rejected; look at its host and its "
                     "device", False), (75, "lost", False), (-9, "", False)):
            self.assertEqual(stage.is_final(dl_spark.Failure(said, status)), final, said)

    def test_masters_speak_of_arguments(self):
        master = Master.__new__(Master)
        master.process = mock.Mock(returncode=78)
        master._last = ["dl-master: 'r' holds a run with batch = 8; --fresh starts over, --run "
                        "takes another folder, and --init MODEL learns on\n"]
        self.assertEqual(str(master.failure()),
                         "dl-master: 'r' holds a run with batch = 8; resume=False starts over, "
                         "directory= takes another folder, and --init MODEL learns on")


if __name__ == "__main__":
    # Messages of masters go to standard error.
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout))
