#!/bin/bash
# A worker that is wrong from its very first answer on is named and put out: by false
# losses, in each mode; by replicas that are not finite, whole and in pieces; and by some
# that are finite and of no use.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
# bad NAME FAULT WHY OPTION...: run NAME of a worker with the fault and a good one.
bad() {
  local name=$1 fault=$2 why=$3
  shift 3
  master "$name" --epochs 100000 --min-workers 2 "$@"
  DL_FAILPOINTS=$fault worker bad "$name"
  worker good "$name"
  await "bad to be put out" said "$name.err" "^dl-master: bad .* lost: $why"
  finish bad
  kill -TERM "${pid[$name]}"
  finish "$name"
  finish good
  ! event "$name.safetensors.run" '"event":"setback"' || fail "something was undone"
  check "$name.safetensors.run" >/dev/null
}
for mode in sharing averaging sync; do
  bad $mode worker.lie=nan#1 "its losses are .* sample of the data" --mode $mode
done
bad garbled worker.garble=nan#1 "a result of it is not finite" --mode averaging
bad useless worker.garble=nan#2 "8 of its answers in a row were rejected" --mode averaging
said useless.err "bad .* rejected: what it came to has a loss of" || fail "it is not told why"
sed -i 's/"units": 8, "activation": "relu"},/"units": 1024},\n    {"type": "dense", "units": 1024},/' net.json
bad pulled worker.garble=nan#1 "a result of it is not finite" --mode averaging
