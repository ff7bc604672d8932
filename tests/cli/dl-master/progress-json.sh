#!/bin/bash
# Progress for programs, and a curve of the losses where a person watches.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
cat >train.py <<'PYTHON'
import json, os, pty, re, subprocess
words = ["dl-master", "--net", "net.json", "--data", "train-*.dls", "--local", "1", "--batch", "8",
         "--fresh", "-o", "model.safetensors"]
run = subprocess.run(words + ["-q", "--progress-json", "--epochs", "300"], capture_output=True, text=True)
reports = [json.loads(line)["progress"] for line in run.stderr.splitlines() if line.startswith('{"progress":')]
for report in reports:
    assert report["text"].startswith(f"epoch {report['epoch']}/300"), report
    assert report["epochs"] == 300 and report["workers"] == 1, report
assert run.returncode == 0 and len(reports) == len(run.stderr.splitlines()), run
print("reports are JSON")
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("dl-master", words + ["--epochs", "3"])
text = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
os.waitpid(pid, 0)
curve = re.search(r"training +([▁▂▃▄▅▆▇█]+)  ([\d.]+) to ([\d.]+)", text.decode())
assert curve and len(curve[1]) == 3 and float(curve[2]) > float(curve[3]), text
print("the losses fall")
PYTHON
python3 train.py
