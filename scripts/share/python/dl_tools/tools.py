"""The tools as programs: found, started, watched, and their errors as exceptions."""

import json
import os
import shutil
import subprocess
import sys
import threading


class ToolError(Exception):
    """A tool has failed: its own sentence, its name, and its exit status of dl(7)."""

    def __init__(self, tool, status, sentence, said=""):
        super().__init__(sentence)
        self.tool, self.status, self.said = tool, status, said

    def __reduce__(self):
        return ToolError, (self.tool, self.status, str(self), self.said)


class Result(bytes):
    """Standard output of a tool, as bytes; .text and .json() decode it, and .said has
    the lines of standard error."""

    said = ()

    @property
    def text(self):
        return self.decode()

    def json(self):
        """The value of --json, or a list if there is one a line."""
        values = [json.loads(line) for line in self.splitlines() if line.strip()]
        return values[0] if len(values) == 1 else values

    def __repr__(self):
        return f"<{len(self)} bytes: {bytes(self[:60])!r}>"


def find(tool):
    """The path of a tool: in the folder DL_TOOLS_BIN, or on the PATH."""
    folder = os.environ.get("DL_TOOLS_BIN")
    path = shutil.which(tool, path=folder) if folder else shutil.which(tool)
    if not path:
        where = f"in DL_TOOLS_BIN={folder}" if folder else "on the PATH"
        raise ToolError(tool, 127, f"{tool} is not {where}: install dl-tools, or name its "
                        "folder in the environment variable DL_TOOLS_BIN")
    return path


def run(tool, *arguments, input=None, progress=None, said=None):
    """Runs a tool to its end; returns its standard output, a Result.

    arguments: its words, each turned into text; nothing goes through a shell.
    input: bytes, or an iterable of them, for standard input, which is empty else.
    progress: called with each report of --progress json, a dict; True shows them as
    one line.  The default is True for dl-master on a terminal or in a notebook.
    said: called with each other line of standard error; the default prints it.
    Raises ToolError; ctrl-C, or the end of a cell, stops the tool orderly.
    """
    words = [find(tool)] + [os.fspath(word) if hasattr(word, "__fspath__") else str(word)
                            for word in arguments]
    if progress is None:
        progress = tool == "dl-master" and (_in_notebook() or sys.stderr.isatty())
    show = _Line() if progress is True else progress
    if show:
        words.insert(2 if tool == "dl-preprocess" else 1, "--progress-json")
    lines = []

    def hear(line):
        report = _report(line) if show else None
        if report is not None:
            show(report)
            return
        lines.append(line)
        if said is not None:
            said(line)
        elif not line.startswith("Try '"):
            print(line, file=sys.stderr)

    process = subprocess.Popen(words, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    hearer = threading.Thread(target=_hear, args=(process.stderr, hear), daemon=True)
    hearer.start()
    feeder, fed_wrong = None, []
    if input is not None:
        feeder = threading.Thread(target=_feed, args=(process, input, fed_wrong), daemon=True)
        feeder.start()
    try:
        output = process.stdout.read()
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        hearer.join(5)
        if isinstance(show, _Line):
            show.end()
    process.stdout.close()
    if feeder:
        feeder.join()
    if fed_wrong:
        raise fed_wrong[0]
    if status:
        raise ToolError(tool, status, _sentence(lines) or f"{tool} ended with status {status}",
                        "\n".join(lines))
    result = Result(output)
    result.said = tuple(lines)
    return result


def _hear(stream, hear):
    with stream:
        for line in stream:
            hear(line.decode(errors="replace").rstrip("\n"))


def _feed(process, data, wrong):
    pieces = [data] if isinstance(data, (bytes, bytearray, memoryview)) else data
    try:
        with process.stdin as stream:
            try:
                for piece in pieces:
                    stream.write(piece)
            except BrokenPipeError:
                raise
            except BaseException as error:  # input that ends early must not look whole
                wrong.append(error)
                process.kill()
    except BrokenPipeError:
        pass  # the tool says why


def _sentence(lines):
    """The last thing that the tool said, without advice on --help."""
    spoken = [line for line in lines if line and not line.startswith("Try '")]
    return spoken[-1] if spoken else ""


def _report(line):
    if not line.startswith('{"progress":'):
        return None
    try:
        return json.loads(line)["progress"]
    except ValueError:
        return None


def _in_notebook():
    try:
        return get_ipython().__class__.__name__ == "ZMQInteractiveShell"
    except NameError:
        return False


class _Line:
    """A line that is drawn again with each report."""

    def __init__(self):
        self._handle = None

    def __call__(self, report):
        text = report.get("text", "")
        if not _in_notebook():
            print("\r\033[K" + text, end="", file=sys.stderr, flush=True)
            return
        from IPython.display import display
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def end(self):
        if not _in_notebook():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
