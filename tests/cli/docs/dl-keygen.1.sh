. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-keygen.1.scd
run_next 'dl-keygen keys --worker'
skip_next 'scp -r' 'other hosts'
skip_next '--once gpu7' 'other hosts'
page_ends
