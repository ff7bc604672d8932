. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-eval.1.scd
lenet_data
lenet_model
run_next "dl-eval --model lenet.safetensors 'test-*.dls'"

# Two classes that are not easily told apart, by a softmax.
awk 'BEGIN {
  print "x,y,class"
  for (i = 0; i < 60; ++i) print i % 7 / 7 "," i % 5 / 5 "," (i % 7 / 7 + i % 5 / 5 > 1 || i % 11 == 0 ? "spam" : "ham")
}' >mails.csv
dl-preprocess csv --header --label class --classes ham,spam mails.csv -o valid.dls
cp valid.dls test.dls
cp valid.dls new.dls
small_network small.json
dl-master -q --net small.json --data valid.dls --epochs 20 --local 1 -o spam.safetensors ||
  fail "training"
run_next '--evaluate roc valid.dls'
grep -q '"class":"spam"' "$blocks/$next.out" && echo 'some are spam'
run_next 'roc:steps=10'
# The state has the counts that a decision by that threshold gives.
dl-eval --model spam.safetensors --threshold 0.3 --json valid.dls |
  jq -c '.evaluations[0].metrics.outputs[1] | [.true_positives, .false_positives]' |
  cmp - "$blocks/$next.out" && echo "as by --threshold"
# And the threshold of the best F1 reaches it.
best=$(dl-eval --model spam.safetensors --evaluate roc --json valid.dls |
  jq -c '.evaluations[0].metrics.outputs[1] | [.best_f1, .best_f1_threshold]')
threshold=$(jq '.[1]' <<<"$best")
dl-eval --model spam.safetensors --threshold "$threshold" --json valid.dls |
  jq -e --argjson best "$best" '.evaluations[0].metrics.outputs[1].f1 == $best[0]'
rm test.dls
small_model m.safetensors
cp animals.dls test.dls
run_next '--min recall/cat'
grep accuracy report.txt
skip_next 'json &' 'other hosts'
for fold in 1 2; do dl-eval --model m.safetensors --json test.dls >cross-fold$fold.json; done
run_next '--spread'
page_ends
