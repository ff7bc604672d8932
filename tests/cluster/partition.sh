#!/bin/bash
# A switch between two networks forgets one of them, so that neither side hears
# of it.  The master's side goes on without the others; they come back by
# themselves when the line does, and every example counts once.
. "$DL_TEST_ROOT/tests/cluster/_own_network.sh"
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
ip link add switch type bridge 2>/dev/null || skip "no bridges here"
ip link set switch up
side() { # NAME ADDRESS: a network of its own on the switch
  run "$1" unshare --net sleep 1000
  await "$1's network" apart "${pid[$1]}"
  ip link add "$1" type veth peer name line netns "${pid[$1]}"
  ip link set "$1" master switch up
  nsenter --net --target "${pid[$1]}" sh -c \
    "ip link set lo up; ip addr add $2/24 dev line; ip link set line up"
}
side near 10.0.0.1
side far 10.0.0.2
export DL_MASTER_INSECURE=1 DL_WORKER_INSECURE=1
bind=tcp://10.0.0.1:0
twice() { [ "$(grep -c "$1" "$2")" = 2 ]; }
part() { # NAME OPTION...
  local name=$1 run=$1.safetensors.run w
  shift
  network=${pid[near]} master "$name" --epochs 3 --min-workers 3 "$@"
  # It stands still with work, so that the run does not end before the line is
  # mended.
  network=${pid[near]} DL_FAILPOINTS=worker.after_batch=spin@20 \
    worker "$name-brake" "$name"
  for w in 1 2; do network=${pid[far]} run "$name-$w" dl-worker \
    --master-file "$name.json" --name "$w" --wait-lost 30s; done
  await "work" event "$run" '"event":"commit"'
  ip link set far nomaster
  for w in 1 2; do
    await "$w to be missed" said "$name.err" " $w (worker [0-9]*) lost: nothing heard"
    await "$w to miss it" said "$name-$w.err" "disconnected\|lost"
  done
  ip link set far master switch
  for w in 1 2; do
    await "$w to come back" twice "joined tcp" "$name-$w.err"
  done
  slay "$name-brake"
  for w in "$name" "$name-1" "$name-2"; do finish "$w"; done
  check "$run"
}
part sharing --mode sharing
part averaging --mode averaging --workers 3
for w in near far; do
  slay "$w" >/dev/null
done
