. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl.7.scd
cp "$examples/lenet.json" .
mnist raw 96 48
for part in train test; do
  from=${part/test/t10k}
  mv "raw/$from-images-idx3-ubyte.gz" $part-images.gz
  mv "raw/$from-labels-idx1-ubyte.gz" $part-labels.gz
done
run_next 'dl-preprocess idx train-images.gz'
page_ends
