. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-network.5.scd
cp "$examples/lenet.json" .
run_next '--dry-run'
page_ends
