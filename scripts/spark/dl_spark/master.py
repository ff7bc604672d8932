"""dl-master on the driver, and the keys of a run."""

import collections
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time

from dl_spark import tools
from dl_spark.tools import Failure

GRACE = 30  # seconds after SIGTERM; dl-master takes DL_GRACE, 25 s, itself
START = 120  # seconds in which it says where it is


def make_server_key(folder, tools_folder):
    tools.run([tools.find("dl-keygen", tools_folder), "-q", folder])


def make_keys(folder, workers, attempt, tools_folder):
    """Keys for one use by a process, for each worker of a start of the stage."""
    keygen = tools.find("dl-keygen", tools_folder)
    return [tools.run([keygen, folder, "--once", f"{attempt}-{rank}"])
            for rank in range(workers)]


class Master:
    """A dl-master that ends with this process: with a word where there is time
    for one, and if the process is killed by the kernel's word."""

    def __init__(self, command, master_file, on_exit):
        self._on_exit = on_exit
        self._file = master_file
        self._last = collections.deque(maxlen=30)
        self._started = threading.Event()
        self.process = self.error = None
        self.report = b""
        tools_remove(master_file)
        # The kernel tells the child when the thread that started it ends, so it
        # is that one which waits.
        self._thread = threading.Thread(target=self._run, args=(command,), daemon=True)
        self._thread.start()
        self._started.wait()
        if self.error:
            raise self.error

    def _run(self, command):
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, preexec_fn=_die_with_parent())
        except OSError as error:
            self.error = Failure(f"cannot run {command[0]}: {error.strerror}", 69)
            return
        finally:
            self._started.set()
        talk = threading.Thread(target=self._forward, daemon=True)
        talk.start()
        self.report = self.process.stdout.read()
        talk.join()
        self._on_exit(self.process.wait())

    def _forward(self):
        for line in self.process.stderr:
            line = line.decode(errors="replace")
            self._last.append(line)
            sys.stderr.write(line)

    def endpoint(self):
        """Where it listens; waits for it to say so."""
        end = time.monotonic() + START
        while self.process.poll() is None and time.monotonic() < end:
            try:
                with open(self._file, encoding="utf-8") as file:
                    return json.load(file)["endpoint"]
            except FileNotFoundError:
                time.sleep(0.02)
        if self.process.poll() is None:
            raise Failure(f"dl-master did not say where it is within {START} s", 69)
        self._thread.join()
        if self.process.returncode == 0:
            return None  # the run was finished before
        raise self.failure()

    def failure(self):
        status = self.process.returncode
        said = [line.strip() for line in self._last if line.startswith("dl-master:")]
        return Failure(said[-1] if said else f"dl-master ended with {status}", status)

    def end(self):
        """Has it save its state and go."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self._thread.join()
        tools_remove(self._file)


def tools_remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def _die_with_parent():
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def child():
        libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(75)
    return child
