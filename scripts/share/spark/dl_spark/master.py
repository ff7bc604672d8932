"""dl-master beside the driver, and the keys of a run."""

import collections
import json
import os
import pkgutil
import subprocess
import sys
import threading
import time

from dl_spark import tools
from dl_spark.arguments import in_our_words
from dl_spark.tools import Failure

LAST = 35    # seconds in which its keeper has ended it
START = 120  # seconds in which it says where it is


def make_server_key(folder, tools_folder):
    tools.run([tools.find("dl-keygen", tools_folder), "-q", folder])


def make_keys(folder, workers, attempt, tools_folder):
    """Keys for one use by a process, for each worker of a start of the stage."""
    keygen = tools.find("dl-keygen", tools_folder)
    return [tools.run([keygen, folder, "--once", f"{attempt}-{rank}"])
            for rank in range(workers)]


class Master:
    """A dl-master that ends when end() says so or this process is gone, having
    saved its state either way: keeper.py sees to it.

    keys: a folder, which is removed with it.  lock: a descriptor that stays open
    as long as it is there.  on_exit(status): called in a thread.
    """

    def __init__(self, keys, lock, on_exit):
        self._keys, self._on_exit = keys, on_exit
        self._file = os.path.join(keys, "master.json")
        self._last = collections.deque(maxlen=30)
        self.report = b""
        # The package may be in a zip file, so the program is an argument.
        keeper = [sys.executable, "-I", "-S", "-c",
                  pkgutil.get_data("dl_spark", "keeper.py").decode(), str(os.getpid()),
                  keys]
        # In a session of its own: what a terminal or YARN sends to all processes of the
        # driver is no word to the master, which would take the next one for the second.
        self.process = subprocess.Popen(
            keeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, pass_fds=[lock])
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def start(self, command):
        """command: without --keys and --master-file."""
        command = [*command, "--keys", self._keys, "--master-file", self._file]
        try:
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # endpoint() says why

    def _listen(self):
        talk = threading.Thread(target=self._forward, daemon=True)
        talk.start()
        with self.process.stdout as output:
            self.report = output.read()
        talk.join()
        self.process.wait()
        self._on_exit(self.status)

    def _forward(self):
        with self.process.stderr as lines:
            for line in lines:
                line = line.decode(errors="replace")
                self._last.append(line)
                sys.stderr.write(line)

    def runs(self):
        return self.process.poll() is None

    @property
    def status(self):
        """Its exit status, -N where signal N ended it; None as long as it runs."""
        status = self.process.returncode
        return status - 256 if status is not None and status > 128 else status

    def endpoint(self):
        """Where it listens; waits for it to say so."""
        end = time.monotonic() + START
        while self.runs() and time.monotonic() < end:
            try:
                with open(self._file, encoding="utf-8") as file:
                    return json.load(file)["endpoint"]
            except FileNotFoundError:
                time.sleep(0.01)
        if self.runs():
            raise Failure(f"dl-master did not say where it is within {START} s", 69)
        self._thread.join()
        if self.status == 0:
            return None  # the run was finished before
        raise self.failure()

    def failure(self):
        if self.status < 0:
            return Failure(f"dl-master was ended by signal {-self.status}: what it saved is "
                           "kept, and fit(..., resume=True) goes on", 75)
        said = [line.strip() for line in self._last
                if line.startswith(("dl-master: ", "dl_spark: "))]
        return Failure(in_our_words(said[-1]) if said else f"dl-master ended with {self.status}",
                       self.status)

    def end(self):
        """Has it save its state and go, if it has not gone."""
        if not self.process.stdin.closed:
            try:
                self.process.stdin.write(b".")
                self.process.stdin.close()
            except BrokenPipeError:
                pass  # it is gone
        try:
            self.process.wait(LAST)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
