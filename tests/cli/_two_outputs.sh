# Two digits, left and right: which the left one is, and whether both are the
# same; and a network of two inputs and two outputs that learns it.
# shellcheck shell=bash
zcat "$DL_TEST_ROOT/scripts/share/examples/digits.csv.gz" | head -300 >left.csv
awk -F, '{ a[NR] = $0 } END { for (i = 1; i <= NR; ++i)
  print a[i % 2 ? i : (i * 7) % NR + 1] }' left.csv >right.csv
paste -d, left.csv right.csv |
  awk -F, '{ print 0 "," ($65 == $130 ? "same" : "other") }' >same.csv
digits=0,1,2,3,4,5,6,7,8,9
for side in left right; do
  dl-preprocess csv --label -1 --classes $digits --shape 8,8,1 $side.csv -q \
    --no-provenance -o $side.dls
done
dl-preprocess csv --label -1 --classes other,same --no-provenance -q same.csv \
  -o same.dls
dl-shard -q --no-provenance --zip features/left=left.dls \
  features/right=right.dls labels/digit=left.dls labels/same=same.dls -n 3 \
  --batch 50 -o pairs
cat >net.json <<'EOF'
{"seed": 3, "updater": {"type": "adam", "learning_rate": 0.01},
 "inputs": [{"name": "left", "shape": [8, 8, 1]},
            {"name": "right", "shape": [8, 8, 1]}],
 "nodes": [
   {"name": "a", "type": "dense", "units": 32, "activation": "tanh",
    "from": "left"},
   {"name": "b", "type": "dense", "shares": "a", "from": "right"},
   {"name": "d", "type": "subtract", "from": ["a", "b"]},
   {"name": "square", "type": "multiply", "from": ["d", "d"]},
   {"name": "same", "type": "output", "units": 1,
    "loss": "binary_cross_entropy"},
   {"name": "digit", "type": "output", "units": 10, "from": "a",
    "loss": "negative_log_likelihood", "loss_weight": 0.5}],
 "outputs": ["digit", "same"]}
EOF
