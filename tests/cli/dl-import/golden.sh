#!/bin/sh
# Models of Keras predict here as they predicted there: in a .keras file, in HDF5, and as
# a configuration with weights beside it.
golden=$DL_TEST_ROOT/tests/golden/keras
check() { # NAME ARGUMENT...
	name=$1
	shift
	echo "$name, $(basename "$1"):"
	dl-import "$@" --check "$golden/$name.npz" --tolerance 1e-5 -o model.safetensors |
		sed 's/difference .*/difference .../'
}
check image "$golden/image.keras"
check image "$golden/image.h5"
check pair "$golden/pair.keras"
check pair "$golden/pair.h5"
check slices "$golden/slices.keras"
check keras2-pair "$golden/keras2-pair.keras"
check keras2-pair "$golden/keras2-pair.h5"
check keras1-theano "$golden/keras1-theano.h5"
check keras1-tensorflow "$golden/keras1-tensorflow.h5" --backend tensorflow
check words "$golden/words.json" --weights "$golden/words.weights.h5"
# The model that was written last is one to apply.
printf '1,2,3,0,0,0\n8,7,6,5,4,3\n' >words.csv
dl-preprocess csv -q --label none words.csv | dl-infer -q --model model.safetensors | wc -l
dl-import - <"$golden/pair.keras" -o piped.safetensors
dl-import "$golden/pair.keras" -q -o file.safetensors
cmp piped.safetensors file.safetensors && echo "a pipe gives the same"
