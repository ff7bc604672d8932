#!/bin/bash
# A run is written for TensorBoard while it lasts; a folder that cannot be made is a
# warning.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --epochs 2 --local 1 --summary 2 --tensorboard logs -o model.safetensors 2>log
echo "status $?"
grep -o "for TensorBoard: .*" log
ls logs
grep -aoE '(epoch/loss|gradients/[a-z0-9]*|activations/[a-z0-9]*|session_end_info)' logs/model/* | sort -u
: >taken
master --epochs 2 --local 1 --fresh --tensorboard taken/x -o model.safetensors 2>log
echo "status $?"
grep -o 'tensorboard: .*' log
master --tensorboard logs --dry-run
echo "status $?"
