# shellcheck shell=bash
# What the cluster tests share.  Each test runs in a scratch folder of its own
# (tests/run) and prints only what is the same every time; what the tools say
# is in NAME.err.
set -u
declare -A pid=()
export DL_GRACE=5s DL_WORKER_THREADS=1
export DL_MASTER_HEARTBEAT=100ms DL_MASTER_LOST_AFTER=1s
# Unless a test says otherwise.
export DL_MASTER_MODE=sharing

cleanup() {
  local p
  for p in "${pid[@]}" "$watchdog"; do
    # A stopped process takes KILL as well.
    kill -KILL "$p" 2>/dev/null
  done
  wait 2>/dev/null
}
trap cleanup EXIT
: "${limit:=60}"  # seconds; a test that needs more sets it before
trap 'fail "it took over $limit s"' TERM
# One process, so that nothing sleeps on when it is killed.
(exec >/dev/null 2>&1; read -rt "$limit" <> <(:); kill -TERM $$) &
watchdog=$!

fail() {
  echo "FAILED: $*"
  local f
  for f in *.err; do
    echo "--- $f"
    tail -n 15 "$f"
  done
  exit 1
}

# run NAME COMMAND...: in the background; what it says goes to NAME.err.  In the
# network of process $network, if that is set.
network=
run() {
  local name=$1
  shift
  ${network:+nsenter --net --target "$network"} "$@" \
    >"$name.out" 2>"$name.err" </dev/null &
  pid[$name]=$!
}

# finish NAME: waits for it and prints its status.
finish() {
  local status
  { wait "${pid[$1]}"; } 2>/dev/null  # bash would report a killed one
  status=$?
  unset "pid[$1]"
  echo "$1: status $status"
}

# slay NAME: kills it, waits for it and prints its status.
slay() {
  { kill -KILL "${pid[$1]}"; finish "$1"; } 2>/dev/null  # as above
}

# await WHAT COMMAND...: tries until the command succeeds, at most $patience s, 20 if
# that is not set.
await() {
  local what=$1 i
  shift
  # Bash would report here what was killed meanwhile.
  {
    for ((i = 0; i < 20 * ${patience:-60}; i++)); do
      "$@" >/dev/null && return
      sleep 0.05
    done
  } 2>/dev/null
  fail "waited ${patience:-60} s for $what"
}

# Prints FIELD of each event of RUN that has what the JSON object WANTED has.
field_of_events() { # RUN WANTED FIELD
  python3 - "$@" <<'PY'
import json, sys
run, wanted, field = sys.argv[1:]
for line in open(run + "/events.jsonl"):
    event = json.loads(line)
    if json.loads(wanted).items() <= event.items():
        print(event[field])
PY
}

# said FILE TEXT: FILE has a line with TEXT.
said() { grep -q -e "$2" "$1"; }
# event RUN TEXT: the history of RUN has a line with TEXT.
event() { grep -q -e "$2" "$1/events.jsonl"; }
check() { "$DL_TEST_ROOT/tests/cluster/check-events" "$1" || fail "history of $1"; }

# 400 examples in 20 records, 4 shards; a small network.
make_data() {
  make-dataset 400 20 1 learnable >all.dls
  dl-shard -n 4 -o train all.dls >shards.list || fail "dl-shard"
  cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "adam", "learning_rate": 0.01},
  "layers": [
    {"type": "dense", "units": 8, "activation": "relu"},
    {"type": "output", "units": 3, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
}

# 200 sequences of up to 7 steps in 4 shards, of whose steps it is to be said
# whether the number fell; a network that is trained in segments of 3.
make_sequence_data() {
  awk -v OFS=, 'BEGIN {
    print "id", "x", "fell"
    for (i = 0; i < 200; ++i) {
      before = 0
      for (t = 0; t < 2 + i % 6; ++t) {
        x = ((i * 7919 + t * 104729) % 2003) / 1000 - 1
        print i, x, (before > x ? "yes" : "no")
        before = x
      } } }' >steps.csv
  dl-preprocess csv --header --sequence id --steps 7 --label fell --per-step \
    --classes no,yes --no-provenance steps.csv |
    dl-shard -q --batch 10 -n 4 -o train || fail "dl-shard"
  rm steps.csv
  cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [7, 1]}, "tbptt_length": 3, "tbptt_update": true,
  "updater": {"type": "adam", "learning_rate": 0.01},
  "layers": [
    {"type": "lstm", "units": 8, "return_sequences": true},
    {"type": "output", "units": 2, "loss": "negative_log_likelihood"}] }
JSON
}

# 400 examples of two inputs and two outputs in 20 records, 4 shards, and 200
# held out; a graph for them.
make_graph_data() {
  local of name count left right
  for of in train:400:1:2 held:200:3:4; do
    IFS=: read -r name count left right <<<"$of"
    make-dataset "$count" 20 "$left" learnable >left.dls
    make-dataset "$count" 20 "$right" learnable >right.dls
    dl-shard -q --batch 20 -n 4 -o "$name" --zip features/left=left.dls \
      features/right=right.dls labels/near=left.dls labels/far=right.dls ||
      fail "dl-shard"
  done
  cat >net.json <<'JSON'
{ "seed": 7, "updater": {"type": "adam", "learning_rate": 0.01},
  "inputs": [{"name": "left", "shape": [3]}, {"name": "right", "shape": [3]}],
  "nodes": [
    {"type": "dense", "name": "a", "units": 8, "activation": "relu",
     "from": "left"},
    {"type": "dense", "name": "b", "shares": "a", "from": "right"},
    {"type": "batch_norm", "name": "norm", "from": "a"},
    {"type": "merge", "name": "both", "from": ["norm", "b"]},
    {"type": "output", "name": "near", "units": 3, "from": "both",
     "loss": "negative_log_likelihood"},
    {"type": "output", "name": "far", "units": 3, "from": "both",
     "loss": "mean_squared_error", "loss_weight": 0.5}],
  "outputs": ["far", "near"] }
JSON
}

# 400 points, above a line or below it, in 40 mini-batches of 10; a network whose
# learning rate is far too large after some epochs.
make_diverging() {
  awk -v OFS=, 'BEGIN {
    print "x", "y", "z", "label"
    for (i = 0; i < 400; ++i) {
      x = ((i * 7919) % 2003) / 1000 - 1
      y = ((i * 104729) % 1009) / 500 - 1
      print x, y, x * y, (x + y > 0.1)
    } }' >points.csv
  dl-preprocess csv --header --label label --classes 0,1 --no-provenance \
    points.csv | dl-shard -q --batch 20 -n 4 -o train || fail "dl-shard"
  rm points.csv
  cat >net.json <<'JSON'
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "sgd", "learning_rate": {"schedule": "map",
    "values": {"0": 0.2, "400": 30}}},
  "layers": [
    {"type": "dense", "units": 8, "activation": "relu"},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
}

# scores_of RUN: what its evaluations say, epoch by epoch.
scores_of() {
  python3 - "$1" <<'PY'
import json, sys
for line in open(sys.argv[1] + "/events.jsonl"):
    event = json.loads(line)
    if event["event"] == "evaluation":
        print(event["epoch"], json.dumps(event["metrics"], sort_keys=True))
PY
}

# constrain_net: the weights of each unit in net.json have norm 1 throughout.
constrain_net() {
  sed -i 's/"seed": 7,/&\n  "constraints": {"min_norm": 1, "max_norm": 1},/' net.json
}

# base.safetensors, a model of batch_norm, dense and output, and a net.json that
# has the first two of them, frozen, and another output.
make_base() {
  local base='{"type": "batch_norm", "name": "norm"},
    {"type": "dense", "name": "code", "units": 8, "activation": "relu"},'
  local end='"units": 3, "loss": "negative_log_likelihood"}]}'
  echo '{"input": {"shape": [3]}, "updater": {"type": "adam", "learning_rate": 0.05},
    "regularization": {"l2": 0.01}, "layers": ['"$base"'
    {"type": "output", "name": "old",'"$end" >net.json
  dl-master -q --net net.json --data 'train-*.dls' --batch 10 --local 1 \
    --normalize standardize -o base.safetensors >/dev/null || fail "base"
  rm -r base.safetensors.run
  sed -i 's/"old"/"new"/; s/"name": "norm"/&, "frozen": true/
    s/"name": "code"/&, "frozen": true/' net.json
}

# compare_tensors MODEL MODEL: which tensors of the second are those of the
# first, to the last bit.
compare_tensors() {
  python3 - "$@" <<'PY'
import json, struct, sys
def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    return {name: data[8 + size + t["data_offsets"][0]:8 + size + t["data_offsets"][1]]
            for name, t in json.loads(data[8:8 + size]).items()
            if name != "__metadata__" and not name.startswith("updater/")}
before, after = map(read, sys.argv[1:])
for name, values in after.items():
    print(name, "same" if before.get(name) == values else "other")
PY
}

# norms_of MODEL: how many units of it have weights of norm 1, and how many not.
norms_of() {
  python3 - "$1" <<'PY'
import json, math, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
one = other = 0
for name, tensor in json.loads(data[8:8 + size]).items():
    if not name.endswith("/weight") or name.startswith("updater/"): continue
    begin, end = (8 + size + i for i in tensor["data_offsets"])
    values = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    columns = tensor["shape"][1]
    for i in range(0, len(values), columns):
        norm = math.sqrt(sum(v * v for v in values[i:i + columns]))
        one, other = one + (abs(norm - 1) < 1e-6), other + (abs(norm - 1) >= 1e-6)
print(f"{one} of norm 1, {other} of another")
PY
}

# damage FILE: one bit in the middle, within a record.
damage() {
  python3 - "$1" <<'PY'
import sys
with open(sys.argv[1], 'r+b') as file:
    middle = file.seek(0, 2) // 2
    file.seek(middle)
    byte = file.read(1)[0] ^ 1
    file.seek(middle)
    file.write(bytes([byte]))
PY
}

# master NAME OPTION...: a master with its files under NAME.*, at $bind if that
# is set.
# With --init, scaling=().
scaling=(--normalize standardize)
master() {
  local name=$1
  shift
  run "$name" dl-master --net net.json --data 'train-*.dls' --batch 10 \
    "${scaling[@]}" --bind "${bind:-tcp://127.0.0.1:0}" \
    --master-file "$name.json" -o "$name.safetensors" "$@"
}

# worker NAME MASTER OPTION...
worker() {
  local name=$1 of=$2
  shift 2
  run "$name" dl-worker --master-file "$of.json" --name "$name" "$@"
}

# parents NAME WORKER: from whom the worker was fed, one after the other.
parents() {
  sed -n "/\"event\":\"feed\"/s/.*\"parent\":\([0-9]*\),.*\"worker\":$2[,}].*/\1/p" \
    "$1.safetensors.run/events.jsonl" | paste -sd' '
}
# fed NAME WORKER PARENTS: from these, a regular expression.
fed() { parents "$1" "$2" | grep -qxE -e "$3"; }

# deadly_tree NAME FAILPOINT OPTION...: a tree of seven workers.  Number 1 is
# killed while others have it for a parent, 2 by the failpoint, and one comes
# late.
deadly_tree() {
  local name=$1 fatal=$2 worker point child n=0
  shift 2
  master "$name" --min-workers 7 --topology tree --fan-out 2 "$@"
  # The brake stands still with a lease in the first epoch, so that the run goes
  # on when it is killed.
  for worker in a b c d e f brake; do
    case $worker in
      b) point=$fatal ;;
      brake) point=worker.after_batch=spin@2 ;;
      *) point= ;;
    esac
    DL_FAILPOINTS=$point worker $worker "$name"
    await "$worker to join" event "$name.safetensors.run" "\"worker\":$((++n))}"
  done
  for child in 3 4; do await "a parent" fed "$name" $child 1; done
  for child in 5 6; do await "a parent" fed "$name" $child 2; done
  slay a
  # The last leaf steps in.
  for child in 3 4; do await "another parent" fed "$name" $child '1 0 7'; done
  worker late "$name"
  await "it to join" event "$name.safetensors.run" '"event":"join".*"worker":8}'
  slay brake
  finish b
  finish "$name"
  for worker in c d e f late; do finish $worker; done
  check "$name.safetensors.run"
  event "$name.safetensors.run" '"event":"commit".*"worker":8' ||
    fail "the late one did nothing"
  ! event "$name.safetensors.run" '"event":"fault"' || fail "a fault"
}

# calm_run: train(), which starts master m, and workers a and b, undisturbed in
# calm/; then we are in rough/ with the same files.
calm_run() {
  mkdir calm rough
  cp ./*.dls net.json calm
  cp ./*.dls net.json rough
  cd calm || exit
  train
  worker a m
  worker b m
  finish m
  finish a
  finish b
  cd ../rough || exit
}

# through_proxy NAME SEED FAULTS KINDS WORKERS OPTION...: a run of so many
# workers whose connections to the master pass proxy.py, which has so many
# faults of these kinds in store.
through_proxy() {
  local name=$1 seed=$2 faults=$3 kinds=$4 workers=$5 w
  local -x DL_WORKER_WAIT_LOST=20s
  shift 5
  master "$name" --epochs 3 --min-workers "$workers" ${keys:+--keys "$keys"} "$@"
  await "the endpoint" test -s "$name.json"
  # shellcheck disable=SC2086  # words
  run "$name-proxy" python3 "$DL_TEST_ROOT/tests/cluster/proxy.py" \
    "$name.json" "$name-proxy.json" "$seed" "$faults" $kinds
  await "the proxy" test -s "$name-proxy.json"
  some_workers "$name" "$name-proxy" "$workers"
  finish "$name"
  for ((w = 1; w <= workers; w++)); do
    finish "$name-$w" >ended
    # Whose line is dead as the run ends does not hear of it.
    case $kinds in
      *cut* | *halve* | *flip*)
        grep -q "did not come back" "$name-$w.err" && sed -i 's/ 75$/ 0/' ended ;;
    esac
    cat ended
  done
  slay "$name-proxy" >/dev/null
  [ "$(wc -l <"$name-proxy.out")" = "$faults" ] ||
    fail "the proxy still had faults in store"
  check "$name.safetensors.run"
}
# some_workers NAME MASTER COUNT: NAME-1 and so on, called 1 ...; with their keys
# in the folder $keys, if that is set
keys=
some_workers() {
  local w
  for ((w = 1; w <= $3; w++)); do
    run "$1-$w" dl-worker --master-file "$2.json" --name "$w" \
      ${keys:+--keys "$keys/hand-out/$w"}
  done
}
