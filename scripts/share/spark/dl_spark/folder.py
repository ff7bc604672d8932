"""What fit() has in its directory: a lock while it is at work, and shards."""

import fcntl
import glob
import json
import os
import re
import threading
import time
import uuid

from dl_spark import tools
from dl_spark.shards import write_shards
from dl_spark.tools import Failure

SHARDS = "fit-shards"  # the folder of what fit() alone writes and removes
OWN = re.compile(r"(train|eval)-[0-9a-f]{8}")
TRIES = 40       # for the lock: the system takes a moment to end a process
TRIES_ON = 700   # of one who goes on: a master whose driver was killed saves its state
PAUSE = 0.05     # seconds


class Folder:
    """The directory, locked until close().  What an earlier fit() left in it is
    there until keep()."""

    def __init__(self, directory, resume):
        self.path = directory
        self._note = os.path.join(directory, "shards.json")
        self._resume = resume
        self._known = {}
        self._new = []
        self._removal = None
        try:
            os.makedirs(directory, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot create the folder '{directory}': {error.strerror}: name "
                          "another one with directory=", 73) from None
        self._lock(os.path.join(directory, "fit.lock"), TRIES_ON if resume else TRIES)

    def _lock(self, name, tries):
        try:
            self.lock = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise Failure(f"cannot write to '{self.path}': {error.strerror}: name another "
                          "folder with directory=", 73) from None
        try:
            self._await_lock(name, tries)
            os.pwrite(self.lock, b"%-80s\n" % f"{os.getpid()} {os.uname().nodename}".encode(), 0)
        except BaseException:
            os.close(self.lock)
            raise

    def _await_lock(self, name, tries):
        for left in reversed(range(tries)):
            try:
                return fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if left:
                    time.sleep(PAUSE)
            except OSError as error:
                raise Failure(f"cannot lock '{name}': {error.strerror}: name a directory on "
                              "storage that can lock files", 69) from None
        pid, _, host = os.pread(self.lock, 80, 0).decode(errors="replace").strip().partition(" ")
        raise Failure(f"another fit() is at work in '{self.path}', of process {pid} on host "
                      f"{host}: wait for it, or name another directory", 69)

    def shards(self, data, network, tools_folder, **how):
        """Patterns of the shards of each kind of data.  Of one who goes on, those
        that are there, but for other held-out data."""
        self._known = self._resume and self._read() or {}
        if self._known:
            data = {"eval": data["eval"]}
        elif data["train"] is None:
            raise Failure(f"'{self.path}' has nothing to go on with: give data", 66)
        found = {"eval": None} | self._known
        for kind, rows in data.items():
            if rows is None:
                continue
            if isinstance(rows, str):
                found[kind] = rows
                continue
            # A task that was forgotten by an earlier fit() finds another name.
            new = os.path.join(self.path, SHARDS, f"{kind}-{uuid.uuid4().hex[:8]}")
            self._new.append(new)
            found[kind] = write_shards(rows, new, network, tools_folder=tools_folder, **how)[0]
        return found

    def _read(self):
        try:
            with open(self._note, encoding="utf-8") as file:
                known = json.load(file)
            if isinstance(known["train"], str) and isinstance(known["eval"], (str, type(None))):
                return known
        except FileNotFoundError:
            return None  # nothing to go on with
        except (ValueError, KeyError, TypeError):
            pass
        raise Failure(f"'{self._note}' is damaged, which says where the shards are: remove it, "
                      "and they are written again", 65)

    def keep(self, shards):
        """These are what a later fit() goes on with: others that fit() wrote are
        removed until close()."""
        if shards == self._known:
            return
        with open(self._note + ".new", "w", encoding="utf-8") as file:
            json.dump(shards, file)
        os.rename(self._note + ".new", self._note)
        self._new = []
        told = [each for each in shards.values() if each]
        used = [os.path.realpath(file) for each in told for file in glob.glob(each)]
        others = []
        for entry in glob.glob(os.path.join(glob.escape(self.path), SHARDS, "*")):
            real = os.path.realpath(entry) + os.sep
            if OWN.fullmatch(os.path.basename(entry)) and not (
                    any(file.startswith(real) for file in used)
                    or any(os.path.basename(entry) in each for each in told)):  # as in pipe:
                others.append(entry)
        self._removal = threading.Thread(target=lambda: [tools.remove(each) for each in others])
        self._removal.start()

    def close(self):
        """Removes the shards that came to nothing, and gives the lock back."""
        if self._removal:
            self._removal.join()
        for new in self._new:
            tools.remove(new)
        # Said aloud, as children of this process may have the descriptor.
        fcntl.flock(self.lock, fcntl.LOCK_UN)
        os.close(self.lock)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
