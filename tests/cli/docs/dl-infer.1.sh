. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-infer.1.scd
cat >steps.csv <<'END'
id,x,fell
a,1,no
a,2,no
b,2,no
b,1,yes
END
dl-preprocess csv --header --sequence id --steps 2 --label fell --per-step \
  steps.csv -o first.dls
cp first.dls next.dls
cat >steps.json <<'END'
{"input": {"shape": [2, 1]}, "layers": [
   {"type": "lstm", "units": 3, "return_sequences": true},
   {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
dl-master -q --net steps.json --data first.dls --local 1 -o m.safetensors ||
  fail "training"
run_next 'first.dls'
rm -r m.safetensors m.safetensors.run

lenet_data
lenet_model
cp raw/t10k-images-idx3-ubyte.gz new.gz
run_next '--no-labels new.gz'
grep -cxE '[0-9]' .blocks/2.out

small_model m.safetensors
cp animals.dls new-1.dls
run_next 'jq -r'

run_next '--threshold 0.3'

run_next '-o features'

cp m.safetensors teacher.safetensors
cp animals.dls train.dls
run_next '-o distilled'

cp "$examples/sensor.json" .
awk -v days=14 -f "$examples/load.awk" >load.csv
awk -v days=5 -v seed=3 -v faults=1 -f "$examples/load.awk" >today.csv
dl-preprocess -q series --window 48 --label load --time when --key station load.csv -o train.dls
dl-master -q --net sensor.json --data train.dls --local 1 --epochs 20 -o load.safetensors ||
  fail "training"
run_next '--forecast 14'
cp load.safetensors m.safetensors
run_next '--quantile'

cat >vae.json <<'END'
{"input": {"shape": [28, 28, 1]}, "updater": {"type": "adam"},
 "layers": [
   {"type": "dense", "units": 8}, {"type": "gaussian_latent"},
   {"type": "output", "units": 784, "loss": "binary_cross_entropy",
    "target": "features"}]}
END
dl-master -q --net vae.json --data 'test-*.dls' --local 1 -o vae.safetensors ||
  fail "training"
cat test-*.dls >new.dls
run_next '--score reconstruction'
page_ends
