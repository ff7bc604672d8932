# A metric that the held-out data does not define (they are of one class) is -
# on the screen, as dl-eval has it, and null in JSON.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
dl-shard --head 1 test.dls >one.dls
master -o m.safetensors --local 1 --eval-data one.dls --evaluate roc --json \
  >report.json 2>log
grep -o 'auc.*' log | sed 's/ (.*//'
grep -o '"auc":[^,}]*' report.json m.safetensors.run/events.jsonl | sort -u
