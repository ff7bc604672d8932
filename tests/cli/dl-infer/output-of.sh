# The values of a node: as lines, and as the features of a network that is trained
# on them.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --local 1 --deterministic --epochs 20 -q -o m.safetensors >/dev/null
infer() { dl-infer -q --model m.safetensors "$@"; }
infer --output-of dense1 test.dls | head -n 1 |
  grep -Ec '^\{"index":0,"outputs":\[(-?[0-9.e-]+,){7}-?[0-9.e-]+\]\}$'
# An output says what it says without the option.
infer --output-of output1 test.dls >a
infer test.dls | cmp - a
infer --output-of output1 --output-of dense1 test.dls | head -n 1 |
  sed -E 's/-?[0-9]+\.[0-9e-]*/N/g'
infer --output-of dens1 test.dls
echo "status $?"
infer --output-of dense1 --format dls --keep-features test.dls
echo "status $?"

for set in 'train-*' test; do
  infer --output-of dense1 --format dls "$set.dls"
done >all.dls
dl-shard -q -n 2 --split train=0.8,test=0.2 -o code all.dls
# The side of each example follows from the exact values.
dl-shard --info code-train-000.dls |
  sed -nE '/^features/,/^ *2/{s/^( .* )[0-9]+$/\1N/;p}'
cat >head.json <<'EOF'
{"seed": 3, "input": {"shape": [8]},
 "updater": {"type": "sgd", "learning_rate": 0.1},
 "layers": [{"type": "output", "units": 3, "loss": "negative_log_likelihood"}]}
EOF
dl-master -q --net head.json --data 'code-train-*.dls' --batch 8 --local 1 \
  --epochs 20 -o head.safetensors --run head >/dev/null
dl-eval --model head.safetensors --min accuracy=0.9 'code-test-*.dls' \
  >/dev/null && echo learnt

# Each step of a sequence, but for the padding.
cat >rnn.json <<'EOF'
{"input": {"shape": [3, 1]}, "layers": [
 {"type": "dense", "name": "each", "units": 2},
 {"type": "lstm", "name": "last", "units": 2},
 {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
EOF
printf '%s\n' id,x,y 1,0.5,a 1,1,a 2,3,b 2,4,b 2,5,b >s.csv
dl-preprocess csv --header --sequence id --steps 3 --label y --classes a,b \
  --no-provenance s.csv -o s.dls
dl-master -q --net rnn.json --data s.dls --epochs 1 --local 1 -o r.safetensors \
  --run r >/dev/null
dl-infer -q --model r.safetensors --output-of each --output-of last s.dls |
  sed -E 's/-?[0-9]+\.[0-9e-]*/N/g'
dl-infer -q --model r.safetensors --output-of each --format dls \
  --no-provenance s.dls | dl-shard -q -n 1 -o steps &&
  dl-shard --info steps-000.dls | sed -n '/^features/,/^ *1/p'

# The stream knows the statistics of its features, as training wants them.
dl-infer -q --model r.safetensors --output-of last --format dls s.dls -o last.dls
dl-shard --info last.dls | grep -c '^statistics'

# Labels are those of the input, whatever classes the model knows.
printf '%s\n' 1,2,3,z 2,3,4,x 3,4,5,z 4,5,6,w 5,6,7,y |
  dl-preprocess csv --label -1 >others.dls
printf '%s\n' 5,3,1,c 6,3,5,a | dl-preprocess csv --label -1 >turned.dls
for set in others turned; do
  infer --output-of dense1 --format dls $set.dls | dl-shard --info - |
    sed -n '/^classes/,/^statistics/{/^statistics/!p}'
done
