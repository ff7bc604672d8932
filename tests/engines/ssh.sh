#!/bin/bash
# dl-master --hosts through a real sshd on four hosts: one cannot be reached, a worker is
# killed, ctrl-C, a host that is cut off, and the death of the master.
limit=300
. "$DL_TEST_ROOT/tests/engines/_ssh.sh"
digits_for_lenet

# Bash has its own children ignore SIGINT.
start() { # NAME EPOCHS
  run "$1" env --default-signal=INT dl-master --net lenet.json --data 'train-*.dls' \
    --batch 64 --hosts h1,h2*2,h3,h4 --threads 1 --network 10.77.0.0/16 \
    --epochs "$2" -o "$1.safetensors"
}
committed() { # NAME WORKER
  local number
  number=$(sed -n "s/.*\"event\":\"join\".*\"name\":\"$2\".*\"worker\":\([0-9]*\).*/\1/p" \
    "$1.safetensors.run/events.jsonl")
  event "$1.safetensors.run" "\"event\":\"commit\".*\"worker\":${number}[,}]"
}
none_left() { ! pgrep -x 'dl-worker|ssh' >/dev/null; }
link() { ip link set "$1" "$2"; }
all_work() { # NAME
  local worker
  for worker in h1:0 h2:1 h2:2 h3:3 h4:4; do
    await "work of $worker" committed "$1" "$worker"
  done
}
interrupt() { # NAME: ends within 5 s
  local begin=${EPOCHREALTIME/[.,]/} took
  kill -INT "${pid[$1]}"
  finish "$1"
  took=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
  echo "it took $took ms" >>"$1.err"
  ((took <= 5000)) || fail "it took $took ms"
  ! pgrep -x ssh >/dev/null || fail "an ssh is left"
  check "$1.safetensors.run" >/dev/null
}

link h4 down
start lenet 3
await "work of h2" committed lenet h2:1
pkill -KILL -f '^[^ ]*/dl-worker .*--name h2:1 ' || fail "there is none to kill"
finish lenet
check lenet.safetensors.run
accuracy lenet
grep -o 'h4 does not answer' lenet.err | head -n 1
sed -n '/^ *hosts /,/^ *leases/p' lenet.err |
  sed 's/[0-9]* mini-batches/N mini-batches/; s/^ *hosts *//; s/^ *//; /^leases/d
    s/h4: 1 worker that never came.*/h4: 1 worker that never came .../'
none_left || fail "something is left"

echo "ctrl-C:"
link h4 up
start stopped 1000
all_work stopped
interrupt stopped
none_left || fail "something is left"

echo "ctrl-C while a host is cut off:"
start cut 1000
all_work cut
link h3 down
await "the loss of h3" said cut.err 'h3:3 (worker [0-9]*) lost'
interrupt cut
link h3 up
await "the end of the worker on h3" none_left

echo "kill -9 of the master, and the same command:"
start killed 3
all_work killed
kill -KILL "${pid[killed]}"
finish killed
await "the workers' end" none_left
start killed 3
finish killed
check killed.safetensors.run
accuracy killed
