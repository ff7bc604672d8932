# Kinds that suit other outputs; several kinds in one pass.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 | dl-eval --model "$models/pets.safetensors" -e roc -e calibration:bins=5
echo
printf '%s\n' 2,spam -1,ham 0.5,ham -2,ham |
  dl-preprocess csv --label 2 --classes ham,spam >spam.dls
dl-eval --model "$models/spam.safetensors" spam.dls
echo
dl-eval --model "$models/spam.safetensors" -e classification --threshold 0.7 spam.dls
echo
printf '%s\n' 1,10,2,10 2,20,2,20 3,30,4,30 |
  dl-preprocess csv --label 3,4 --regression |
  dl-eval --model "$models/values.safetensors"
