# A network states its input, so it can be looked at before there are data.
cp "$DL_TEST_ROOT/scripts/share/examples/lenet.json" .
dl-master --net lenet.json --dry-run --batch 64 | sed -n '1,/^{/p'
dl-master --net lenet.json --dry-run --json | python3 -c '
import json, sys
plan = json.load(sys.stdin)
configuration = plan["configuration"]
print(plan["parameters"], plan["examples"], configuration["data"],
      configuration["normalizer"], len(configuration["network"]["layers"]))'
sed 's/"units": 200/"unit": 200/' lenet.json >wrong.json
dl-master --net wrong.json --dry-run
echo "status $?"
dl-master --net lenet.json -o m.safetensors
echo "status $?"
ls -A
# A graph is drawn.
dl-master --net "$DL_TEST_ROOT/scripts/share/examples/siamese.json" --dry-run | sed -n '1,/^$/p'
# If a network takes more memory than there is, the layer that takes it is named.
pad='{"type": "zero_pad2d", "padding": [65535, 65535, 65535, 65535]'
cat >large.json <<END
{"input": {"shape": [2, 2, 1]}, "layers": [$pad}, $pad, "name": "edges"}, {"type": "global_pool"},
  {"type": "output", "units": 3, "loss": "mean_squared_error"}]}
END
dl-master --net large.json --batch 1024 --dry-run
echo "status $?"
