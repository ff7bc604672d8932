#!/bin/bash
# --mode auto, the default: workers of this host are one process, which trains
# the same bytes wherever its rounds end; an option that one mode has chooses that
# mode; a run goes on in its mode.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
mode_of() {
  python3 - "$1.safetensors.run" <<'END'
import json, sys
s = json.load(open(sys.argv[1] + "/run.json"))["settings"]
events = [json.loads(line) for line in open(sys.argv[1] + "/events.jsonl")]
workers = {e["worker"]: e["threads"] for e in events if e["event"] == "join"}
print(s["mode"], "alone" if s["averaging"].get("alone") else "", workers)
END
}
train() { # NAME OPTION...
  local name=$1
  shift
  echo "$*"
  master "$@" -o "$name.safetensors" 2>log || cat log
  grep -o 'auto: .*' log
  mode_of "$name"
}
same() { cmp "$1.safetensors" "$2.safetensors" && echo "the same bytes"; }

train one --local 1 --threads 2 --epochs 4
train often --local 1 --threads 2 --epochs 4 --checkpoint-batches 2
same one often
train two --local 2 --threads 1 --epochs 4
same one two
train more --local 1 --threads 2 --epochs 1
train more --local 1 --threads 2 --epochs 4
same one more
dl-master -q --replay one.safetensors.run -o replayed.safetensors
dl-eval --model one.safetensors test.dls >a
dl-eval --model replayed.safetensors test.dls | cmp - a && echo replayed

train threshold --local 2 --threads 1 --threshold fixed:1e-3
train frequency --local 2 --threads 1 --frequency 2
master --local 2 --frequency 2 --threshold fixed:1e-3 -o m.safetensors
echo $?
master --local 2 --workers 2 -o m.safetensors
echo $?

train old --mode sharing --local 2 --threads 1 --epochs 1
train old --local 2 --threads 1 --epochs 2
