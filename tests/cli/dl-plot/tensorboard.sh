#!/bin/bash
# Event files of runs, models and reports; one that follows a run until it ends, or
# until it is told to.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-eval --model "$models/pets.safetensors" -e roc --json pets.dls >report.json
mkdir a.run
for epoch in 0 1; do
  echo '{"event":"epoch","epoch":'$epoch',"loss":0.5,"mono":7,"ts":"2026-01-02T00:00:01.500Z","incarnation":1}'
done >a.run/events.jsonl
dl-plot a.run --tensorboard logs
dl-plot report.json --tensorboard logs
dl-plot "$models/pets.safetensors" --tensorboard logs
ls logs logs/*
dl-plot a.run --tensorboard live --follow >said &
until grep -qs writing said; do
  kill -0 $! || exit
  sleep 0.05
done
cat said
size=$(stat -c %s live/a/*)
echo '{"event":"epoch","epoch":2,"loss":0.4,"mono":8,"incarnation":1}' >>a.run/events.jsonl
until [ "$(stat -c %s live/a/*)" -gt "$size" ]; do
  kill -0 $! || exit
  sleep 0.05
done
echo "it follows"
echo '{"event":"report","mono":9,"incarnation":1}' >>a.run/events.jsonl
wait $!
echo "status $?"
sed -i '$d' a.run/events.jsonl
dl-plot a.run --tensorboard live --follow >again &
until grep -qs writing again; do
  kill -0 $! || exit
  sleep 0.05
done
kill $!
wait $!
echo "status $?"
for args in "a.run --follow" "report.json --tensorboard logs --follow" "a.run --tensorboard a.run/events.jsonl"; do
  eval "dl-plot $args"
  echo "status $?"
done
