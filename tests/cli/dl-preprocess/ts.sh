#!/bin/bash
# Series of the UCR and UEA archives: of one length and of several, with classes and numbers.
cat >equal.ts <<'END'
# A comment.
@problemName Two
@timeStamps false
@missing false
@univariate false
@dimensions 2
@equalLength true
@seriesLength 3
@classLabel true up down
@data
1,2,3:4,5,6:up
3,2,1:6,5,4:down
0.5,-1,1e2:0,0,0:up
END
head_of() { dl-shard --head 9 --json "$1"; }
dl-preprocess ts equal.ts -o equal.dls
head_of equal.dls
dl-shard --info --json equal.dls | jq -c '[.schema, .classes]'
cat >ragged.ts <<'END'
@problemName Some
@timestamps false
@univariate true
@equalLength false
@targetlabel true
@data
1,2,3:0.5
4:7

5,6:-1
END
dl-preprocess ts --steps 4 ragged.ts -o ragged.dls
head_of ragged.dls
dl-shard --info --json ragged.dls | jq -c '[.version, .schema]'
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess ts ragged.ts -o x
status dl-preprocess ts --steps 2 ragged.ts -o x
status dl-preprocess ts equal.ts ragged.ts -o x
sed 's/^3,2,1:6,5,4/3,2:6,5/; s/^0.5/?/' equal.ts >bad.ts
status dl-preprocess ts bad.ts -o x
dl-preprocess ts --max-bad 2 bad.ts -o bad.dls && head_of bad.dls
sed 's/:down$/:left/' equal.ts >class.ts
status dl-preprocess ts class.ts -o x
sed 's/^1,2,3:/1,2,3:1,2,3:/' equal.ts >wide.ts
status dl-preprocess ts wide.ts -o x
sed '/@data/,$d' equal.ts >head.ts
status dl-preprocess ts head.ts -o x
sed 's/@timeStamps false/@timeStamps true/' equal.ts >times.ts
status dl-preprocess ts times.ts -o x
status dl-preprocess ts --label x equal.ts -o x
status dl-preprocess ts --regression equal.ts -o x
ls x 2>&1
