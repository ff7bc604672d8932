"""The tools of dl-tools: where they are, and how some of them are run in a row."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipimport


class Failure(Exception):
    """What went wrong, in one sentence that says what helps.

    status: the exit status of the tool that said so, or as dl(7) has it: 64, what
    the function was told is wrong.
    """

    def __init__(self, sentence, status=64):
        super().__init__(sentence)
        self.status = status

    def __reduce__(self):
        return Failure, (str(self), self.status)


def find(name, folder=None):
    """The path of a tool: in `folder`, in what --archives or --files brought
    to this host, or on the PATH."""
    if folder:
        places = [folder]
    else:
        places = _brought() + os.environ.get("PATH", "").split(os.pathsep)
        places += ["/usr/local/bin", "/usr/bin"]
    for place in places:
        path = os.path.join(place, name)
        if place and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise Failure(
        f"{name} is not on host {os.uname().nodename}"
        + (f" in {folder}" if folder else "")
        + ": install dl-tools there, ship it with spark-submit --archives "
          "dl-tools-...tar.gz#dl-tools, or name its folder with tools_folder=", 78)


def _brought():
    """Folders in which Spark unpacks archives: bin/ of a tree, or of the one
    folder in it, as in the tarball."""
    roots = [os.getcwd()]
    try:
        from pyspark import SparkFiles
        roots.append(SparkFiles.getRootDirectory())
    except Exception:  # no Spark here yet
        pass
    found = []
    for root in roots:
        # Not every bin/ that happens to lie there: that of our tarball alone.
        for tool in (glob.glob(os.path.join(root, "dl-*", "bin", "dl-master"))
                     + glob.glob(os.path.join(root, "dl-*", "*", "bin", "dl-master"))):
            found.append(os.path.dirname(tool))
        found.append(root)
    return found


class Pipeline:
    """Commands, each reading what the one before it writes.

    With `feed`, an iterator of bytes-like objects, a thread writes that into
    the first one; what the last one writes is read from `output`.  finish()
    waits, and raises what went wrong: an error of `feed` first, then the
    first command that failed.
    """

    def __init__(self, commands, feed):
        fill_standard_files()
        forget_archives()
        self._commands = commands
        self._errors = [tempfile.TemporaryFile() for _ in commands]
        self._processes = []
        self._feed_error = None
        source = subprocess.PIPE
        try:
            for command, errors in zip(commands, self._errors):
                process = subprocess.Popen(command, stdin=source, stderr=errors,
                                           stdout=subprocess.PIPE)
                if self._processes:
                    source.close()  # the next one has it
                self._processes.append(process)
                source = process.stdout
        except BaseException:
            self.kill()
            raise
        self.output = source
        self._feeder = threading.Thread(target=self._write, args=(feed,),
                                        daemon=True)
        self._feeder.start()

    def _write(self, feed):
        stdin = self._processes[0].stdin
        try:
            for data in feed:
                stdin.write(data)
        except BrokenPipeError:
            pass  # the command says why
        except BaseException as error:  # told by finish()
            self._feed_error = error
        try:
            if self._feed_error:
                # A stream that ends early must not look whole.
                self._processes[0].kill()
            stdin.close()
        except BrokenPipeError:
            pass

    def finish(self):
        self.output.close()
        self._feeder.join()
        statuses = [process.wait() for process in self._processes]
        if self._feed_error:
            raise self._feed_error
        failed = [i for i, status in enumerate(statuses)
                  if status and status != -13]  # SIGPIPE: another one failed
        if failed or any(statuses):
            at = failed[0] if failed else statuses.index(-13)
            name = os.path.basename(self._commands[at][0])
            raise Failure(self._said(at) or f"{name} ended with {statuses[at]}",
                          statuses[at])

    def _said(self, at):
        self._errors[at].seek(0)
        return sentence_of(self._errors[at].read()[-4000:])

    def kill(self):
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        pass

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.kill()
        for errors in self._errors:
            errors.close()


def sentence_of(said):
    """The last thing that a tool said on standard error."""
    if isinstance(said, bytes):
        said = said.decode(errors="replace")
    lines = [line for line in said.splitlines() if line and not line.startswith("Try '")]
    return lines[-1] if lines else ""


def forget_archives():
    """Spark's own on Python's path, of which a jar is one, that PySpark has importlib
    look into again before each task: Python before 3.12 reads all their directories, for
    some 0.1 s.  They do not change, so the next task need not look."""
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter) and \
                os.path.basename(finder.archive).startswith(("pyspark", "py4j-", "spark-core")):
            sys.path_importer_cache.pop(path, None)


def fill_standard_files():
    """Spark's Python has closed descriptor 0: a pipe that gets it would become
    the standard input of the wrong process."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest one that is free


def run(command, **how):
    """Runs one tool to its end; returns what it wrote to standard output."""
    done = subprocess.run(command, capture_output=True, **how)
    if done.returncode:
        raise Failure(sentence_of(done.stderr) or
                      f"{os.path.basename(command[0])} ended with {done.returncode}",
                      done.returncode)
    return done.stdout


def shared_folder(directory):
    """The path that `directory` names, which every host must see."""
    try:
        directory = os.fsdecode(directory)
    except TypeError:
        raise Failure(f"directory={directory!r:.50}: want a path") from None
    scheme, colon, rest = directory.partition(":")
    if colon and scheme == "file":
        directory = "/" + rest.lstrip("/")
    elif colon and "/" not in scheme:
        raise Failure(
            f"directory='{directory}' is no path: give one on storage that all "
            f"hosts mount, such as NFS; {scheme} has mounts, too "
            f"(its NFS gateway or FUSE)")
    if not os.path.isabs(directory):
        raise Failure(f"directory='{directory}' must be an absolute path, as "
                      "executors have another working directory")
    return directory


def remove(path):
    """The folder and what is in it, though tasks that Spark has not ended yet may
    write there."""
    for _ in range(20):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            break
        time.sleep(0.05)
