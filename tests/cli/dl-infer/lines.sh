# JSON Lines, from files, standard input and pipes, in order.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
infer() { dl-infer --device reference --model "$models/$1.safetensors" "${@:2}"; }
infer pets pets.dls
infer pets pets.dls >a
infer pets <pets.dls | cmp - a
infer pets - <pets.dls | cmp - a
infer pets --batch 2 --threads 2 'pipe:cat pets.dls' | cmp - a
infer pets -o b pets.dls && cmp a b
pets 1 2 >b.dls
pets 3 6 >c.dls
infer pets b.dls c.dls | cmp - a
infer pets --top 3 b.dls
printf '%s\n' 2 -1 0 | dl-preprocess csv --label none >s.dls
infer spam s.dls
printf '%s\n' 1.5,2 0.1,-3e7 | dl-preprocess csv --label none >v.dls
infer values v.dls
infer weather v.dls
