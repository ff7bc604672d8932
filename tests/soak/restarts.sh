#!/bin/bash
# A master that is killed and starts again after 0 to 12 s, over tcp and ipc,
# with 1, 3 and 12 workers: all come back, each time.
limit=1800
. "$DL_TEST_ROOT/tests/cluster/_restart.sh"
make_data
n=0
for workers in 1 3 12; do
  for pause in 0 0.1 1 4 12; do
    for kind in tcp ipc; do
      n=$((n + 1))
      endpoint=tcp://127.0.0.1:0
      [ $kind = tcp ] || endpoint=ipc://$PWD/socket$n
      restart $kind$n "$endpoint" $pause $workers >out
      sed -i '/^'$kind$n': status 137$/d; /: status 0$/d' out
      echo "$workers back over $kind after $pause s: $(cat out)"
    done
  done
done
