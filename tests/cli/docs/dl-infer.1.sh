. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-infer.1.scd
lenet_data
lenet_model
cp raw/t10k-images-idx3-ubyte.gz new.gz
run_next '--no-labels new.gz'
grep -cxE '[0-9]' .blocks/1.out

small_model m.safetensors
cp animals.dls new-1.dls
run_next 'jq -r'

run_next '-o features'

cp m.safetensors teacher.safetensors
cp animals.dls train.dls
run_next '-o distilled'

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
