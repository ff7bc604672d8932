# Inputs whose classes have other orders go together, as dl-infer(1) says, but
# not as one stream.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >a.dls
sed 's/$/,emu/' <<'END' | dl-preprocess csv --label 4 --classes emu,dog,cat --no-provenance >b.dls
-0.3567,-1.6094,-2.3026
END
dl-infer --model "$models/pets.safetensors" a.dls b.dls | wc -l
cat a.dls b.dls | dl-infer --model "$models/pets.safetensors" >/dev/null
echo "status $?"
