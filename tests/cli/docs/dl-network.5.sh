. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-network.5.scd
cp "$examples/lenet.json" .
skip_next '--dry-run' 'it wants data'
page_ends
