#!/bin/bash
# 200 times, at random moments, the master or one of three workers is killed and
# started again with the same command.  No example is lost or counts twice, and
# the model of --mode averaging is that of a calm run.
limit=1800
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
kills=${SOAK_KILLS:-200}
RANDOM=${SOAK_SEED:-1}
start() { # NAME PART OPTION...: the master, or worker 1 to 3
  local name=$1 part=$2
  shift 2
  if [ "$part" = 0 ]; then
    bind=ipc://$PWD/$name.socket master "$name" --epochs 1500 --min-workers 1 "$@"
  else
    run "$name-$part" dl-worker --master "ipc://$PWD/$name.socket" --name "$part"
  fi
}
part_name() { if [ "$2" = 0 ]; then echo "$1"; else echo "$1-$2"; fi; }
# kill_often NAME OPTION...: until the run is over; adds to $done
done=0
kill_often() {
  local name=$1 part victim
  shift
  for part in 0 1 2 3; do start "$name" $part "$@"; done
  while :; do
    sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
    kill -0 "${pid[$name]}" 2>/dev/null || break
    [ "$done" -lt "$kills" ] || continue
    part=$((RANDOM % 4))
    victim=$(part_name "$name" $part)
    kill -KILL "${pid[$victim]}" 2>/dev/null || continue
    wait "${pid[$victim]}" 2>/dev/null
    done=$((done + 1))
    start "$name" $part "$@"
  done
  finish "$name" >status
  grep -qx "$name: status 0" status || fail "the master: $(cat status)"
  for part in 1 2 3; do
    # One that was started when the run was over finds nobody.
    kill -TERM "${pid[$name-$part]}" 2>/dev/null
    finish "$name-$part" >/dev/null
  done
  check "$name.safetensors.run" >>checked
}
averaging=(--mode averaging --workers 3)
start calm 0 "${averaging[@]}"
for part in 1 2 3; do start calm $part; done
for part in calm calm-1 calm-2 calm-3; do finish $part >/dev/null; done
runs=0
while [ "$done" -lt "$kills" ]; do
  runs=$((runs + 1))
  kill_often "sharing$runs" --mode sharing
  kill_often "averaging$runs" "${averaging[@]}"
  cmp "averaging$runs.safetensors" calm.safetensors || fail "the models differ"
  rm -r "sharing$runs".* "averaging$runs".*
done
echo "$done kills in $((2 * runs)) runs: $(sort -u checked)"
