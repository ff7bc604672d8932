. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-master.1.scd
lenet_data
run_next '--patience 3'
skip_next '--mode averaging' 'other hosts'
run_next '--dry-run'
animals iris.csv
small_network iris.json
run_next 'dl-preprocess csv'
page_ends
