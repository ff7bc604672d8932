#!/bin/bash
# Workers that cannot open the shards are sent the records: the model is the
# same as with files.  --data - works likewise.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
mkdir elsewhere
train() {
  local name=$1
  shift
  run "$name" dl-master --net net.json --batch 10 --normalize standardize \
    --bind tcp://127.0.0.1:0 --master-file "$name.json" -o "$name.safetensors" \
    --mode averaging --workers 2 --epochs 2 "$@"
}
train files --data 'train-*.dls'
worker a files
finish files
finish a
train sent --data 'train-*.dls' --min-workers 2
worker b sent --data-root elsewhere
worker c sent --data-root elsewhere
finish sent
finish b
finish c
check sent.safetensors.run
grep -q "cannot open 4 of the shards" sent.err && echo "records were sent"
cmp files.safetensors sent.safetensors && echo "same bytes"

cat train-*.dls >joined.dls
dl-master --net net.json --batch 10 --normalize standardize --data - \
  --bind tcp://127.0.0.1:0 --master-file stream.json -o stream.safetensors \
  --epochs 1 <joined.dls 2>stream.err &
pid[stream]=$!
worker d stream --data-root elsewhere
finish stream
finish d
check stream.safetensors.run
