# A model and a report of version 0.1.
golden=$DL_TEST_ROOT/tests/golden/0.1
dl-eval --model "$golden/model.safetensors" "$golden/points-test-000.dls" | head -n 3
dl-eval --merge "$golden/report.json" | grep -E '^[a-z]+:|accuracy|auc |ece '
