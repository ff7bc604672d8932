# A model of version 0.1 says what it said then.
golden=$DL_TEST_ROOT/tests/golden/0.1
classes() { sed 's/,"probability.*//'; }
dl-infer --model "$golden/model.safetensors" "$golden/points-test-000.dls" | classes >now || exit
classes <"$golden/predictions.jsonl" | cmp - now && wc -l <now
