# Sync has one step for a mini-batch: a network that takes one for each of its
# segments is refused, with a remedy.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
cat >net.json <<'JSON'
{ "input": {"shape": [4, 1]}, "tbptt_length": 2, "tbptt_update": true,
  "layers": [
    {"type": "lstm", "units": 3, "return_sequences": true},
    {"type": "output", "units": 2, "loss": "negative_log_likelihood"}] }
JSON
for mode in sync averaging; do
  dl-master --net net.json --dry-run --mode $mode -o m.safetensors >/dev/null
  echo $?
done
