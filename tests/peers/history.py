"""The events of a run while it goes on."""

import json
import pathlib
import statistics
import time

WAIT = 300  # seconds for the first mini-batches


class History:
    """events.jsonl as it grows."""

    def __init__(self, path, log):
        self.path, self.log, self.at = path, log, 0
        self.commits, self.exchange = [], []

    def read(self):
        """How many commits there are by now."""
        if self.path.exists():
            with open(self.path, encoding="utf-8") as file:
                file.seek(self.at)
                for line in iter(file.readline, ""):
                    if not line.endswith("\n"):
                        break
                    self.at += len(line.encode())
                    event = json.loads(line)
                    if event["event"] == "commit":
                        self.commits.append(event)
                    elif event["event"] == "exchange":
                        self.exchange.append(event)
        return len(self.commits)

    def wait_for_all(self, workers):
        """Until each has committed three times (averaging: once)."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            self.read()
            counts = {}
            for commit in self.commits:
                counts[commit["worker"]] = counts.get(commit["worker"], 0) + commit["count"]
            if len(counts) == workers and min(counts.values()) >= 3:
                return
            time.sleep(0.2)
        tail = pathlib.Path(self.log).read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"peers: not all workers were at work after {WAIT} s:\n{tail}")

    def rate(self, first, last):
        """(these commits, examples/s from the first of them to the last)"""
        commits = self.commits[first:last]
        if len(commits) < 2:
            raise SystemExit("peers: too little was committed in time; raise --seconds")
        seconds = commits[-1]["mono"] - commits[0]["mono"]
        return commits, sum(c["examples"] for c in commits[1:]) / seconds

    def waited(self):
        """Share of time that workers waited for others, from what they say."""
        shares = [event["wait"] for event in self.exchange if "wait" in event]
        return statistics.mean(shares) if shares else None
