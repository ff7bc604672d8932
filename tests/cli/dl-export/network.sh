#!/bin/bash
# A model's network is one that can be trained, and its pictures name its layers.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
cp "$models/pets.safetensors" .
dl-export pets.safetensors -o net.json && dl-master --net net.json --dry-run >/dev/null && echo network
dl-export pets.safetensors -o net.dot && grep -c -- '->' net.dot
dl-export pets.safetensors -o net.svg && grep -o '>out (output)<' net.svg
dl-export --format svg -o - pets.safetensors | cmp - net.svg && echo same
dl-export --masks always pets.safetensors -o masked.svg
echo "$?"
ls
dl-export --format onnx pets.safetensors -o ./pets.safetensors
echo "$?"
