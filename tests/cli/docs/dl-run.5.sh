. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-run.5.scd
lenet_data
lenet_model
run_next 'group_by(.worker)'
cat .blocks/1.out
run_next '@tsv'
page_ends
