#!/bin/bash
# Measures the workers, prints what more would bring, and leaves nothing behind.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
mkdir tmp
TMPDIR=$PWD/tmp master -q --estimate --local 2 | grep -v 'what is expected is uncertain' >text
# Names and headings; the figures are this machine's.
awk 'NR == 1 || /expected|hosts +sharing/ || NF == 0 { $1 = $1; print; next }
     { print $1 }' text | head -n -2
grep -c 'these workers share one host' text
estimate() { TMPDIR=$PWD/tmp dl-master --net net.json --data 'train-*.dls' --estimate "$@"; }
estimate -q --local 1 --batch 50 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
host = d["measured"][0]
print(len(d["measured"]), 0 < host["compute_from"] <= host["compute_to"], host["bandwidth"] > 0)
print([row["hosts"] for row in d["expected"]], d["advice"])
# 120 examples are two mini-batches of 50 and one of 20.
print("%.4g" % (d["expected"][0]["sync"] * host["sync_alone"]))'
estimate --local 1 --dry-run 2>&1 | head -1
# Sync also sends running statistics, of one worker and of two.
sed -i 's/"layers": \[/&{"type": "batch_norm"},/' net.json
for workers in 1 2; do
  estimate -q --local $workers --json | python3 -c '
import json, sys
measured = json.load(sys.stdin)["measured"]
print(len(measured), all(host["sync_alone"] > 0 for host in measured))'
done
# A signal ends it at once: this one waits for another worker.
mkfifo said
estimate --local 1 --min-workers 2 2>said &
while read -r line; do
  case $line in
    *joined*) pkill -TERM -P $! -x dl-master ;;
    dl-master:*SIGTERM*) echo "$line" ;;
  esac
done <said
wait $!
echo "status $?"
ls -A tmp
