#!/bin/bash
# Names of output files, and the default format.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
cp "$models/pets.safetensors" .
dl-export pets.safetensors -o PETS.ONNX && dl-export pets.safetensors -o pets.onnx && cmp PETS.ONNX pets.onnx && echo same
dl-export pets.safetensors --masks always -o masked.onnx
echo "status $?"
dl-export pets.safetensors --masks never -o never.onnx
ls
