. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cookbook.7.scd

cp "$DL_TEST_ROOT"/scripts/share/examples/passengers.* .
run_next 'passengers.awk'
dl-eval -q --model passengers.safetensors --min accuracy=0.8 'passengers-test-*.dls' >/dev/null || fail 'a worse model of passengers'
wc -l <joined.csv
awk -F, 'NF != 13' joined.csv | head -2
run_next '--print-recipe'

cp "$examples"/churn.* .
cat >.blocks/bin/sqlite3 <<'PY' # the program is in no package that tests want
#!/usr/bin/python3
import sqlite3, sys
sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())
PY
chmod +x .blocks/bin/sqlite3
run_next 'churn.sql'
dl-eval -q --model churn.safetensors --min accuracy=0.85 'churn-test-*.dls' >/dev/null || fail 'a worse model of customers'

mkdir -p pets/cats pets/dogs no yes
ln -s /usr/bin/python3 .blocks/bin/python3 # Debian's, which has Pillow
/usr/bin/python3 - <<'PY'
import math, struct, wave
from PIL import Image
for i in range(12):
    for folder, color in ("cats", (200, 80, 40 + i)), ("dogs", (40, 80, 200 + i)):
        Image.new("RGB", (40 + i, 40), color).save(f"pets/{folder}/{i}.png")
    for folder, tone in ("no", 200), ("yes", 900):
        with wave.open(f"{folder}/{i}.wav", "wb") as sound:
            sound.setnchannels(1), sound.setsampwidth(2), sound.setframerate(8000)
            sound.writeframes(b"".join(
                struct.pack("<h", int(9000 * math.sin(tone * (t + i) / 1300))) for t in range(3500)))
PY
run_next 'dl-preprocess images'
run_next 'preview-augment'
mkdir scenes
/usr/bin/python3 - <<'PY'
import random
from PIL import Image, ImageDraw
draw = random.Random(3)
for i in range(60):
    width, height, size = draw.randrange(50, 90), draw.randrange(50, 90), draw.randrange(8, 25)
    ground, x = int(height * draw.uniform(0.4, 0.7)), draw.randrange(width // 2)
    places = [(0, 0, width, height), (0, ground, width, height), (x, ground - size, x + size, ground + 3)]
    picture, mask = Image.new("RGB", (width, height)), Image.new("L", (width, height))
    for number, (place, color) in enumerate(zip(places, [(120, 170, 230), (60, 150, 50), (180, 60, 50)])):
        ImageDraw.Draw(picture).rectangle(place, fill=color)
        ImageDraw.Draw(mask).rectangle(place, fill=number)
    picture.save(f"scenes/{i}.jpg"), mask.save(f"scenes/{i}.png")
PY
run_next 'scenes.recipe'
dl-eval -q --model scenes.safetensors --min accuracy=0.95 'scenes-test-*.dls' >/dev/null || fail 'a worse model of scenes'
run_next '--ledger'
find . -maxdepth 1 -name 'pets-*.safetensors' | wc -l

awk 'BEGIN { for (i = 0; i < 60; ++i)
  if (i % 2) print "spam\tbuy " i " pills now!!"; else print "ham\tsee you at " i " today" }' >messages.tsv
run_next 'text.idx'
run_next 'pipe:python3 sounds.py'

cp "$examples"/load.* "$examples/sensor.json" .
run_next 'load.awk'
grep -c '"outputs"' ".blocks/$next.out"
dl-eval --model load.safetensors load-test.dls --evaluate forecast --json |
  jq '.evaluations[0].metrics | .mae < .seasonal_mae / 2'

run_next 'sensor.json'
grep -E '01-14 (05|19):00' anomalies

cp "$examples/sunspots.csv" .
run_next 'sunspots.json'
dl-eval --model sunspots.safetensors sunspots-test.dls --evaluate forecast --json |
  jq '.evaluations[0].metrics | .mae < .seasonal_mae'
dl-infer --model sunspots.safetensors --forecast 11 sunspots.csv | jq -c .time | tail -1

awk 'BEGIN {
  print "amount,hour,kind"
  for (i = 0; i < 200; ++i)
    if (i % 10) print i % 17 "," i % 24 ",normal"; else print 90 + i % 13 "," i % 5 ",fraud" }' >payments.csv
run_next '--stratify -o fraud'

animals animals.csv
small_network animals.json
ln -s "$examples/crossval" .blocks/bin/crossval
run_next 'crossval'
awk 'NR <= 3 && $1 != "examples" { print $1 }' .blocks/"$next".out
run_next 'crossval --earlier'
awk '$1 ~ /^(seasonal_)?mae$/ && $2 == "forecast" { print $1, $5 }' .blocks/"$next".out
run_next '.updater.learning_rate'
awk -F '\t' '$1 ~ /^[01]/ { ++n } END { print n " accuracies" }' .blocks/"$next".out

dl-preprocess csv -q --header --label species animals.csv -o animals-train-000.dls
train=(dl-master --net animals.json --data 'animals-train-*.dls' --local 2 --epochs 30 -o animals.safetensors)
"${train[@]}" -q
run_next 'events.jsonl'
cut -f 1 .blocks/"$next".out | sed -n '1p;30p'

cut -d , -f 1,2 animals.csv | head -n 4 >rows.csv
echo rows.csv >names
run_next '--label none'
cat .blocks/"$next".out
cp "$DL_TEST_ROOT/tests/golden/keras/pair.keras" model.keras
run_next 'again.keras'

# A run that is killed before its model is written.
rm -r animals.safetensors*
DL_FAILPOINTS=master.after_commit=kill@20 sh -c '"$@"; :' sh "${train[@]}" -q 2>/dev/null
[ ! -e animals.safetensors ] || fail "it was not killed"
run_next '--epochs 30'
grep -c '"event":"resume"' animals.safetensors.run/events.jsonl

# A host that is a folder here: scp copies into it, ssh runs a command there.
mkdir nfs h2
cp animals-train-*.dls nfs
cat >.blocks/bin/scp <<'SH'
#!/usr/bin/bash
cp -r "$2" "${3/://}"
SH
cat >.blocks/bin/ssh <<'SH'
#!/usr/bin/bash
until address=$(grep -ohE 'tcp://127[.0-9]*:[0-9]+' .blocks/*.err | tail -n 1) && [ -n "$address" ]; do sleep 0.05; done
cd "$1" && shift && exec "${@/tcp:\/\/h1:7000/$address}"
SH
chmod +x .blocks/bin/scp .blocks/bin/ssh
rm -rf animals.safetensors*
sed -i "s|/nfs/|$PWD/nfs/|; s|tcp://\*:7000|tcp://127.0.0.1:0|" ".blocks/$((next + 1))"
run_next 'ssh h2'
dl-infer -q --model animals.safetensors animals-train-000.dls | wc -l
page_ends
