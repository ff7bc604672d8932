"""Runs dl-master for a driver, and outlives it: when the driver says so or is
gone, by whatever signal, the master gets one SIGTERM, saves its state and ends, and
its keys are removed.

A program of its own, as the kernel tells of a parent's death once for each of its
threads, and a second signal has dl-master end at once.  Nothing of the package is
imported.  Arguments: the driver's pid, and the folder of the keys.  Standard input is a
pipe of the driver: a line has the command as JSON, then a byte, or the end, is the word.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

GRACE = 30  # seconds after SIGTERM; dl-master takes DL_GRACE, 25 s, itself
LOOK = 1    # seconds between two looks at the driver, whose children may hold the pipe


def main(driver, keys):
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    try:
        command = _command(int(driver))
        if command is None:
            return 0
        return _wait(subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                      preexec_fn=_die_with_parent()),
                     int(driver), woken)
    except OSError as error:
        print(f"dl_spark: cannot run {error.filename}: {error.strerror}", file=sys.stderr)
        return 69
    finally:
        shutil.rmtree(keys, ignore_errors=True)


def _command(driver):
    """None: the driver went without giving one."""
    while not select.select([0], [], [], LOOK)[0]:
        if os.getppid() != driver:
            return None
    with open(0, "rb", buffering=0, closefd=False) as pipe:  # no more than the line
        line = pipe.readline()
    return json.loads(line) if line.endswith(b"\n") else None


def _wait(master, driver, woken):
    told = None
    while master.poll() is None:
        ready, _, _ = select.select([woken] + ([] if told else [0]), [], [], LOOK)
        signals = os.read(woken, 4096) if woken in ready else b""
        over = 0 in ready or signal.SIGTERM in signals or os.getppid() != driver
        if over and not told:
            told = time.monotonic()
            master.terminate()
        elif told and time.monotonic() > told + GRACE:
            master.kill()
    return master.returncode


def _die_with_parent():
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def child():
        prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(75)
    return child


if __name__ == "__main__":
    # Death by a signal as a status, too: 247 for SIGKILL.
    sys.exit(main(*sys.argv[1:]) % 256)
