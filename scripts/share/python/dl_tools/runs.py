"""Run directories, dl-run(5)."""

import json
import os

from dl_tools.pages import Page


class Run:
    """A run directory: .events(), .report, .settings; a notebook shows its page."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.exists(os.path.join(self.path, "events.jsonl")):
            raise FileNotFoundError(f"'{self.path}' has no events.jsonl: want a run directory "
                                    "of dl-master")

    def events(self, kind=None):
        return events(self.path, kind)

    @property
    def report(self):
        """The report at its end, or None."""
        last = None
        for last in _lines(self.path, "report"):
            pass
        return last

    @property
    def configuration(self):
        with open(os.path.join(self.path, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def page(self, *others):
        """The page of dl-plot, with other runs beside it."""
        return Page.of(self.path, *(getattr(other, "path", other) for other in others))

    def _repr_html_(self):
        return self.page()._repr_html_()

    def __repr__(self):
        return f"<run '{self.path}'>"


def events(run, kind=None):
    """The history of a run, of one kind of event or all: a pandas.DataFrame where pandas is
    installed, else a list of dicts.  Lines that are damaged, or not complete yet, are left out."""
    found = list(_lines(getattr(run, "path", run), kind))
    try:
        import pandas
    except ImportError:
        return found
    return pandas.DataFrame(found)


def _lines(path, kind):
    if os.path.isdir(path):
        path = os.path.join(path, "events.jsonl")
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.endswith("\n"):
                break
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "event" in event and kind in (None, event["event"]):
                yield event
