#!/bin/bash
# A token that an embedding has no row for is said before anything is trained,
# evaluated or predicted.
tokens() { dl-preprocess csv --header --sequence s --steps 2 --label y --dtype i32 --no-provenance "$@"; }
printf 's,t,y\n1,0,a\n1,3,a\n2,1,b\n2,2,b\n' | tokens -o small.dls
printf 's,t,y\n1,0,a\n1,7,a\n2,1,b\n2,2,b\n' | tokens -o large.dls
printf 's,t,y\n1,0,a\n1,-1,a\n2,1,b\n2,2,b\n' | tokens -o negative.dls
cat >net.json <<'END'
{"seed": 1, "input": {"shape": [2]},
 "layers": [{"type": "embedding", "rows": 4, "units": 2},
            {"type": "global_pool"},
            {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
train() { dl-master -q --net net.json --local 1 --epochs 1 -o m.safetensors "$@"; echo "status $?"; }
train --data small.dls --data large.dls
train --data small.dls --eval-data large.dls
train --data negative.dls
ls
train --data small.dls
for tool in dl-eval dl-infer; do
  $tool -q --model m.safetensors large.dls >out
  echo "$tool $?, $(wc -c <out) bytes"
done
