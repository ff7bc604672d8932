#!/bin/bash
# The checker itself: it refuses histories that were tampered with.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 1
worker a m
finish m
finish a
check m.safetensors.run

try() { # NAME PYTHON: changes the list of events `e`
  mkdir "$1"
  python3 - "$1" "$2" <<'PY'
import json, sys
e = [json.loads(l) for l in open('m.safetensors.run/events.jsonl')]
commits = [i for i, x in enumerate(e) if x['event'] == 'commit']
exec(sys.argv[2])
open(sys.argv[1] + '/events.jsonl', 'w').writelines(
    json.dumps(x) + '\n' for x in e)
PY
  "$DL_TEST_ROOT/tests/cluster/check-events" "$1" 2>"$1.err" >/dev/null &&
    fail "$1 was accepted"
  sed 's/^[^ ]* //; s/: {.*//' "$1.err"
}
try twice 'e.insert(commits[5], e[commits[5]])'
try never 'del e[commits[5]]'
try fence 'e[commits[5]]["fence"] += 1'
try other 'e[commits[5]]["worker"] += 1'
try outside 'e[commits[5]]["first"] += 1000'
try short 'e[commits[5]]["examples"] -= 1'
twice='l = [x["event"] for x in e].index("lease"); x = dict(e[l]); x["lease"] = 999
x["fence"] += 1; e.insert(l + 1, x)'
try leased-twice "$twice"
try copied-to-itself "$twice; x['copy_of'] = e[l]['lease']"
try copy-of-nothing "$twice; x['copy_of'] = 998"
