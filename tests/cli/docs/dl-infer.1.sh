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

cp m.safetensors teacher.safetensors
cp animals.dls train.dls
run_next '-o distilled'
page_ends
