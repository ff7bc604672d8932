#!/bin/bash
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
dl-master --net no.json --data train-000.dls -o m; echo $?
dl-master --net net.json --data no.dls -o m; echo $?
dl-master --net net.json --data 'no-*.dls' -o m; echo $?
dl-master --init no.safetensors --data train-000.dls -o m; echo $?
