#!/bin/bash
# Data in which no label counts train nothing: they are refused; one weight above 0 suffices.
for i in {1..64}; do echo "$((i % 2)),$((i % 3)),$((i > 32)),$((i % 2 ? 1 : 0)),0"; done | sed '1i x,y,some,kind,none' >t.csv
echo '{"input": {"shape": [2]}, "seed": 1, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
for weight in some none; do
  dl-preprocess csv -q --header --label kind --weight "$weight" --drop "$([ $weight = some ] && echo none || echo some)" --batch 8 t.csv -o $weight.dls
done
train() { dl-master -q --net net.json --local 1 --epochs 1 --batch 8 --fresh -o m.safetensors "$@" >/dev/null; echo "status $?"; }
train --data none.dls
train --data some.dls
train --data some.dls --eval-data none.dls
train --data some.dls --data none.dls
ls m.safetensors
