# shellcheck shell=bash
# Runs in which processes are killed and stopped, hosts are flaky, and lines are slow
# and break, with small models and larger ones, in all modes.  Every example counts
# once, and where a run promises the same bytes it has those of a calm one.
#
# A test has a function `epochs`, of the kind of a run.
also=tc
. "$DL_TEST_ROOT/tests/cluster/_own_network.sh"
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_INSECURE=1 DL_WORKER_INSECURE=1 DL_WORKER_WAIT_LOST=60s
bind=tcp://10.0.0.1:0
below() { echo $((RANDOM % $1)); }

# Workers 3 and 4 are behind a line, whose rate changes.
set_rate() { # RATE
  tc qdisc change dev near root tbf rate "$1" burst 128kb latency 100ms
  there tc qdisc change dev line root tbf rate "$1" burst 128kb latency 100ms
}

network_file() { # NAME UNITS UPDATER
  cat >"$1.net" <<JSON
{ "seed": 7, "input": {"shape": [3]},
  "updater": {"type": "$3", "learning_rate": 0.01},
  "layers": [
    {"type": "dense", "units": $2, "activation": "relu"},
    {"type": "dense", "units": $2, "activation": "relu"},
    {"type": "output", "units": 3, "activation": "softmax",
     "loss": "negative_log_likelihood"}] }
JSON
}

# start PART: the master, 0, worker 1 to 4, or the flaky one, 5, whose processes die
# over a mini-batch.
start() {
  local part=$1
  case $part in
    0) master run "${how[@]}" ;;
    3 | 4) network=${pid[far]} run "$part" dl-worker --master-file run.json --name "$part" ;;
    5) run 5 env DL_FAILPOINTS="worker.compute=kill@$((1 + $(below 5)))" \
      dl-worker --master-file run.json --name flaky ;;
    *) run "$part" dl-worker --master-file run.json --name "$part" ;;
  esac
}
name_of() { if [ "$1" = 0 ]; then echo run; else echo "$1"; fi; }
kill_part() { # PART: it is started again at once
  local p=${pid[$(name_of "$1")]}
  { kill -KILL "$p"; wait "$p"; } 2>/dev/null
  start "$1"
}
# One disturbance of some kind.
disturb() {
  local p
  case $(below 12) in
    0) kill_part 0 ;;
    1 | 2 | 3) kill_part $((1 + $(below 4))) ;;
    4 | 5)
      p=${pid[$((1 + $(below 4)))]}
      kill -STOP "$p"
      sleep "$(below 2).$(below 10)"
      kill -CONT "$p"
      ;;
    6) kill_part 1; kill_part 2; kill_part 3 ;;
    7)
      ip link set near down
      sleep "$(below 3).$(below 10)"
      ip link set near up
      ;;
    8 | 9) set_rate "$((20 + $(below 400)))mbit" ;;
    *) kill -0 "${pid[5]}" 2>/dev/null || kill_part 5 ;;
  esac
}

# try LABEL CALM OPTION...: a run of net.json that is disturbed; CALM: the model that
# it must have, or "".
try() {
  local label=$1 calm=$2 part n
  shift 2
  how=(--wait 60s "$@")
  rm -rf run.*
  for part in 0 1 2 3 4 5; do start $part; done
  for ((n = 0; n < disturbances; n++)); do
    sleep "0.$(below 5)$(below 10)"
    kill -0 "${pid[run]}" 2>/dev/null || break
    disturb
  done
  set_rate 400mbit
  finish run >status
  grep -qx "run: status 0" status || fail "$label, seed $seed: $(cat status)"
  for part in 1 2 3 4 5; do
    # One that was started when the run was over finds nobody.
    kill -TERM "${pid[$part]}" 2>/dev/null
    finish $part >/dev/null
  done
  check run.safetensors.run >/dev/null
  [ -z "$calm" ] || cmp run.safetensors "$calm" || fail "$label, seed $seed: other bytes"
  done_runs=$((done_runs + 1))
  echo "$label: $n disturbances, $SECONDS s" >>trace
}

calm() { # NAME OPTION...: what one worker makes of it, undisturbed
  local name=$1
  shift
  how=("$@")
  rm -rf run.*
  start 0
  start 1
  finish run >/dev/null
  finish 1 >/dev/null
  mv run.safetensors "$name"
}

# A round: each mode, in a star and in a tree, with both models.
all_modes() {
  local size mode same sharing tree=(--topology tree --fan-out 2)
  for size in small large; do
    cp $size.net net.json
    sharing=(--mode sharing --epochs "$(epochs $size)")
    try "sharing, $size" "" "${sharing[@]}"
    try "sharing in a tree, $size" "" "${sharing[@]}" "${tree[@]}"
    for mode in averaging sync; do
      same=(--mode "$mode" --workers 4 --epochs "$(epochs "$size-$mode")")
      [ -e "calm-$mode-$size" ] || calm "calm-$mode-$size" "${same[@]}"
      try "$mode, $size" "calm-$mode-$size" "${same[@]}"
      try "$mode in a tree, $size" "calm-$mode-$size" "${same[@]}" "${tree[@]}"
    done
    try "averaging that overlaps, $size" "" --mode averaging --workers 4 --overlap \
      --delta int8 --epochs "$(epochs $size-averaging)"
  done
}
chaos() { # SEED DISTURBANCES SECONDS: so many of each run; no round begins later
  seed=$1 disturbances=$2
  RANDOM=$seed
  make_data
  lay_line 400mbit 128kb
  network_file small 8 adam
  network_file large 1000 sgd
  done_runs=0
  while all_modes && [ $SECONDS -lt "$3" ]; do :; done
  slay far >/dev/null
  [ -z "${SOAK_TRACE:-}" ] || cat trace >>"$SOAK_TRACE"
  [ $done_runs -ge 14 ] && echo "all modes: every example once, the same bytes"
}
