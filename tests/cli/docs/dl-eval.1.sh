. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-eval.1.scd
lenet_data
lenet_model
run_next "dl-eval --model lenet.safetensors 'test-*.dls'"

small_model m.safetensors
cp animals.dls test.dls
run_next '--min recall/cat'
grep accuracy report.txt
skip_next 'json &' 'other hosts'
page_ends
