. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-master.1.scd
lenet_data
skip_next '--hosts' 'other hosts'
run_next '--patience 3'
skip_next '--hosts @hosts' 'other hosts'
skip_next 'srun dl-worker' 'other hosts'
run_next '--dry-run'
run_next 'dl-export'
awk -v OFS=, 'BEGIN {
  print "sepal length,sepal width,petal length,petal width,species"
  for (i = 0; i < 30; ++i) {
    c = i % 3; x = i * 37 % 100 / 100
    print 5 + x + c, 3 - x * c, 1 + 2 * c, x + c, "species " c
  } }' >iris.csv
cp "$examples/iris.json" .
run_next 'dl-preprocess csv'
page_ends
