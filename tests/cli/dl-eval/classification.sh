# The default for a softmax, from a file, standard input and a pipe.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-eval --model "$models/pets.safetensors" --top 2 pets.dls
dl-eval --model "$models/pets.safetensors" --top 2 pets.dls >a
dl-eval --model "$models/pets.safetensors" --top 2 <pets.dls | cmp - a
dl-eval -m "$models/pets.safetensors" --top 2 - <pets.dls | cmp - a
dl-eval -m "$models/pets.safetensors" --top 2 'pipe:cat pets.dls' | cmp - a
DL_EVAL_TOP=2 dl-eval -m "$models/pets.safetensors" pets.dls | cmp - a
dl-eval -m "$models/pets.safetensors" -e classification:top=2 pets.dls | cmp - a
# A stream of two parts, and two streams.
pets 1 2 >b.dls
pets 3 6 >c.dls
cat b.dls c.dls | dl-eval --model "$models/pets.safetensors" --top 2 | cmp - a
dl-eval --model "$models/pets.safetensors" --top 2 '[bc].dls' | cmp - a
