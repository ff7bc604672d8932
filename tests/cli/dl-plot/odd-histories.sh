#!/bin/bash
# Histories that are empty, damaged, cut short or made up: one sentence, or a right page.
mkdir empty.run none.run odd.run config.run
: >empty.run/events.jsonl
dl-plot empty.run -o empty.html; echo "status $?"
ls empty.html 2>&1
mkdir begun.run
printf '{"event":"start","mo' >begun.run/events.jsonl
dl-plot begun.run empty.run -o empty.html; echo "status $?"
rm -r begun.run
dl-plot empty.run -o empty.svg; echo "status $?"
dl-plot none.run -o x.html; echo "status $?"
dl-plot nowhere -o x.html; echo "status $?"
: >nothing
dl-plot nothing -o x.html; echo "status $?"
: >config.run/events.jsonl
echo '{"network": ' >config.run/run.json
dl-plot config.run -o x.html; echo "status $?"

bad='<script>alert(1)</script>'
cat >odd.run/events.jsonl <<EVENTS
{"event":"start","mode":"$bad","mono":1,"incarnation":1,"epochs":"$bad"}
{"event":"join","worker":1,"name":"$bad","host":"$bad","device":"\"><img src=x>","mono":1,"incarnation":1}
{"event":"commit","worker":1,"epoch":0,"first":0,"count":1,"loss":1e308,"examples":1e300,"mono":1,"incarnation":1}
{"event":"commit","worker":1,"epoch":0,"first":1,"count":9e99,"loss":-1e308,"mono":2,"incarnation":1}
{"event":"commits","epoch":0,"since":1,"committed":"x","workers":{"1":{}},"mono":3,"incarnation":1}
this line is damaged
{"event":"evaluation","epoch":0,"metrics":{"$bad":{"accuracy":0.5}},"mono":3,"incarnation":1}
{"event":"lost","worker":1,"why":"$bad","mono":1e300,"incarnation":1}
{"event":"report","reason":"$bad","$bad":1,"mono":4,"incarnation":1}
EVENTS
printf '{"event":"commit","worker":1,"ep' >>odd.run/events.jsonl
echo '{"settings": {"<script>alert(2)</script>": "<img src=x>"}, "network": {"input": 7}}' >odd.run/run.json
dl-plot odd.run -o odd.html -q; echo "status $?"
dl-plot odd.run -o odd.svg; echo "status $?"
grep -c -e '<script>alert' -e '<img' odd.html odd.svg
grep -o 'Passed over[^<]*' odd.html
grep -o 'The network cannot be drawn' odd.html
mkdir garbage.run ...run
head -c 300 odd.run/run.json | tr '{}' '()' >garbage.run/events.jsonl
dl-plot garbage.run -o x.html; echo "status $?"

# Sums of a fold that were edited.
mkdir twice.run lacking.run counts.run
for count in 2 -5 '"5"' 0 1.5; do echo "{\"event\":\"commit\",\"worker\":1,\"epoch\":0,\"first\":7,\"count\":$count,\"loss\":1}"; done >counts.run/events.jsonl
dl-plot counts.run -o counts.html; echo "status $?"
grep -o 'Passed over[^<]*' counts.html
rm -r counts.run counts.html
sum='{"event":"commits","epoch":0,"committed":[[0,4,64]],"workers":{"1":{"batches":4}}}'
printf '%s\n' "$sum" "${sum/0,4,64/3,4,64}" >twice.run/events.jsonl
dl-plot twice.run -o x.html; echo "status $?"
echo "${sum/:4/:3}" >lacking.run/events.jsonl
dl-plot lacking.run -o x.html; echo "status $?"
rm -r twice.run lacking.run
dl-plot odd.run -o same.html --data same.html 2>&1 | head -n 1
cp odd.run/events.jsonl ...run
dl-plot ./...run --tensorboard in/tb -q; echo "status $?"
find in -type f | sed 's/tfevents.*/tfevents/'
ls
