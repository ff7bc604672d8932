#!/bin/bash
# Sequences without their padding in the stream: to readers the same examples.
cat >walks.csv <<'END'
who,x,y,kind,weight
a,0,0.5,ant,1
a,1,2,ant,2
b,0,1,bee,1
b,1,0.25,bee,0.5
b,2,4,bee,1
c,7,1,ant,3
END
pre() { dl-preprocess csv --header --sequence who --label kind --no-provenance walks.csv "$@"; }
pre --steps 4 >padded.dls
pre --steps 4 --store ragged >ragged.dls
dl-shard --info ragged.dls | grep '^features\|^statistics'
cmp <(dl-shard --head 9 --json padded.dls) <(dl-shard --head 9 --json ragged.dls) && echo "same examples"
cmp <(dl-shard --info padded.dls | sed -n '/^statistics/,/^recipe/p') \
  <(dl-shard --info ragged.dls | sed -n '/^statistics/,/^recipe/p') && echo "same statistics"
dl-shard -q -n 1 --no-provenance -o all ragged.dls
dl-shard -q -n 1 --no-provenance -o first --batch 1 ragged.dls
cmp <(dl-shard --head 9 --json all-000.dls) <(dl-shard --head 9 --json first-000.dls) && echo "records do not matter"
dl-shard -q --split a=0.5,b=0.5 --in-order -n 1 --no-provenance -o part ragged.dls
dl-shard --head 9 --json part-a-000.dls part-b-000.dls | cmp - <(dl-shard --head 9 --json all-000.dls) && echo "held back"
pre --steps 4 --per-step --weight weight --store ragged | dl-shard --head 1 --json -
pre --steps 4 --per-step --weight weight | dl-shard --head 1 --json -
pre --steps 2 --longer truncate --store ragged >short.dls
dl-shard --head 3 --json short.dls
dl-shard -q -n 1 -o both padded.dls ragged.dls
echo "status $?"
pre --steps 4 --store jpeg >/dev/null
echo "status $?"
