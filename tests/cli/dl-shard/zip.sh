#!/bin/sh
# Streams are joined example by example, whatever records they are cut into.
make-dataset 7 2 1 >a.dls
make-dataset 7 2 2 >b.dls
dl-shard -q --batch 3 -n 2 -o c a.dls
dl-shard -q --zip left=a.dls features/right='c-*.dls' -o x
dl-shard --info x-000.dls | grep -vE '^(bytes|shard|made| )'
# Both sides have the same examples, in their order.
dl-shard --head 7 --json x-000.dls | jq -c 'select(."features/left" != ."features/right")'
dl-shard --verify x-000.dls

# Inputs that cannot be joined are refused, and nothing is written.
dl-shard --head 5 a.dls >short.dls
for sides in 'a=a.dls b=short.dls' 'a=a.dls a=b.dls' 'a.dls b=b.dls' \
  'x/y=a.dls b=b.dls' 'a=x-000.dls b=b.dls' 'a=missing.dls b=b.dls'; do
  # shellcheck disable=SC2086  # several operands
  dl-shard --zip $sides -o y
  echo "status $?"
done
ls

# The description has each name.
dl-shard -q --zip features/x=a.dls labels/y=a.dls labels/z=b.dls -o z
dl-shard --info z-000.dls | grep -vE '^(bytes|shard|made|  +dl)'
dl-shard --info --json z-000.dls | jq -c '.classes, ."classes/y"'
dl-shard --head 2 --json z-000.dls | jq -c 'del(."features/x")'

# Labels without a name beside inputs that have names.
dl-shard -q --zip features/x=a.dls features/y=b.dls labels=a.dls -o m
dl-shard --info m-000.dls | grep -A3 '^classes'
dl-shard --head 1 --json m-000.dls | jq -c '.class'

# Steps that are padding in the one input are none of the labels with a name.
printf '%s\n' 1,0.5,up 1,0.25,up 1,0.75,down 2,0.5,up |
  dl-preprocess csv --sequence 1 --steps 3 --label -1 --per-step -q -o s.dls
dl-shard -q --zip features=s.dls labels/each=s.dls -o s
dl-shard --info s-000.dls | grep -A2 '^classes'

# Two tables of which different rows were left out.
printf '%s\n' id,x A,1 B,2 C, D,4 >left.csv
printf '%s\n' id,x A,1 B, C,3 D,4 >right.csv
for side in left right; do
  dl-preprocess csv -q --header --id id --label none --missing skip $side.csv -o $side.dls
done
dl-shard --zip left=left.dls right=right.dls -o ids
echo "status $?"
dl-shard -q --zip left=left.dls right=left.dls -o ids
dl-shard --head 3 --json ids-000.dls | jq -c .id
