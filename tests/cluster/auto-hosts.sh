#!/bin/bash
# --mode auto with two workers that come over TCP: they are measured, the mode is
# said with both figures, they join again, and the run has that mode.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
export DL_MASTER_MODE=auto
make_data
master m --min-workers 2 --epochs 3
worker a m
worker b m
finish m
finish a
finish b
check m.safetensors.run
number='[0-9]+(,[0-9]{3})*'
# Sync that is nearly as fast as sharing is taken as well, with a word of why.
said() {
  grep -oE "auto: $1, $number examples/s expected of 2 workers; $2 $number$3\$" m.err
}
mode=$(python3 -c '
import json; print(json.load(open("m.safetensors.run/run.json"))["settings"]["mode"])')
case $mode in
  sharing) said sharing sync '' >/dev/null || fail "what was said" ;;
  sync) said sync sharing '(, which is not exact)?' >/dev/null || fail "what was said" ;;
  *) fail "mode $mode" ;;
esac
grep -c 'has chosen its mode; joining again' a.err b.err
# The same goes on as it began, with no measurement.
master m --min-workers 2 --epochs 4
worker a m
worker b m
finish m
finish a
finish b
grep -o "auto: the run goes on in its mode, $mode" m.err | sed "s/$mode/.../"

# One that dies while it is measured.
master n --min-workers 2 --epochs 2
DL_FAILPOINTS=worker.compute=kill@9 worker a n
worker b n
finish a
worker c n
finish n
finish b
finish c
check n.safetensors.run
grep -o 'auto: .*' n.err

# Sync cannot be.
rm -r m.safetensors* train-*
make_sequence_data
master m --min-workers 2
worker a m
worker b m
finish m
finish a
finish b
check m.safetensors.run
grep -o 'auto: .*' m.err
