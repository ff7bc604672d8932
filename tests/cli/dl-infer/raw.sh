# Raw data through the recipe that the model's data were made by: the same
# examples, and so the same predictions, as by dl-preprocess.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
for i in 1 2 3 4 5 6 7 8; do
  picture "photos/dark/$i.png" 9 9 "$i"
  picture "photos/light/$i.ppm" 12 8 "1$i"
  picture "new/dark/$i.bmp" 8 12 "2$i"
  picture "new/light/$i.png" 20 10 "3$i"
done
how='--size 6x6 --fit pad --interpolation bicubic --color grey'
# shellcheck disable=SC2086  # options
dl-preprocess images $how photos -o photos.dls && dl-shard -q photos.dls -n 2 -o train
cat >net.json <<'EOF'
{"input": {"shape": [6, 6, 1]}, "seed": 1, "layers": [
  {"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"},
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
EOF
dl-master -q --net net.json --data 'train-*.dls' --local 1 --epochs 3 --batch 4 -o m.safetensors

echo '== predictions'
# shellcheck disable=SC2086
dl-preprocess images $how new | dl-infer --model m.safetensors >piped
dl-infer --model m.safetensors --raw new >raw && cmp piped raw && wc -l <raw
jq -r .id raw | head -3
echo '== tensors'
# shellcheck disable=SC2086
dl-preprocess images $how new |
  dl-infer --model m.safetensors --format dls --keep-features --no-provenance -o piped.dls
for threads in 1 3; do
  dl-infer --model m.safetensors --raw new --format dls --keep-features --no-provenance \
    --threads $threads -o raw.dls
  cmp piped.dls raw.dls && echo "the same bytes with $threads threads"
done
echo '== evaluation'
# shellcheck disable=SC2086
dl-preprocess images $how new -o new.dls
dl-eval --model m.safetensors new.dls --json >stream.json
dl-eval --model m.safetensors --raw new --json >raw.json
cmp stream.json raw.json && jq -c '[.. | .examples? // empty][0]' raw.json
echo '== single files, whatever their folder is called'
cp new/dark/1.bmp some.bmp
dl-infer --model m.safetensors --raw some.bmp | jq -c 'keys'
dl-eval --model m.safetensors --raw some.bmp
echo "status $?"
echo '== bad ones'
head -c 50 new/light/1.png >new/light/0.png
dl-infer --model m.safetensors --raw new/light >out
echo "status $?"
dl-infer --model m.safetensors --raw new/light --max-bad 1 | wc -l
dl-eval --model m.safetensors --raw new --max-bad 1 | head -1
echo '== without a recipe'
cat >table.csv <<'EOF'
0.1,0.2,a
0.9,0.8,b
EOF
dl-preprocess csv --label -1 --dtype f64 table.csv -o table.dls
sed 's/\[6, 6, 1\]/[2]/; s/.*conv2d.*/{"type": "dense", "units": 2},/; 1s/$/ /' net.json >table.json
dl-master -q --net table.json --data table.dls --local 1 --batch 2 --normalize none -o t.safetensors
dl-infer --model t.safetensors --raw new
echo "status $?"
dl-infer --model m.safetensors --max-bad 1 new.dls
echo "status $?"
echo '== another recipe than the model knows'
dl-preprocess images --size 6x6 --fit crop --interpolation bicubic --color grey --max-bad 1 -q new -o other.dls
dl-infer --model m.safetensors other.dls >other && cmp -s piped other || echo 'other predictions'
echo '== without --raw'
dl-infer --model m.safetensors some.bmp
echo "status $?"
dl-infer --model m.safetensors new
echo "status $?"
dl-infer --model m.safetensors --raw new -o new/dark/1.bmp
echo "status $?"
echo '== labels in a table, or elsewhere'
(cd new && echo path,label,kind && for file in */*; do echo "$file,${file%/*},light"; done) >labels.csv
dl-eval --model m.safetensors --raw new --max-bad 1 --labels labels.csv --json 2>/dev/null >table.json
dl-eval --model m.safetensors --raw new --max-bad 1 --json 2>/dev/null | cmp - table.json && echo 'as by folders'
dl-eval --model m.safetensors --raw new --max-bad 1 --labels labels.csv --label-from kind 2>/dev/null |
  sed -n 's/ *accuracy *//p'
dl-eval --model m.safetensors --raw new --max-bad 1 --labels labels.csv --label-from king
echo "status $?"
dl-eval --model m.safetensors new.dls --label-from kind
echo "status $?"
echo '== files that are passed over'
touch new/light/{a,b}.heic
dl-infer --model m.safetensors --raw new/light --max-bad 1 | wc -l
echo '== through other programs'
dl-export m.safetensors -o m.onnx && dl-import -q m.onnx -o back.safetensors
dl-infer -q --model back.safetensors --raw new/dark | jq -c '[.id, .class]' >back
dl-infer -q --model m.safetensors --raw new/dark | jq -c '[.id, .class]' | cmp - back && echo 'the same classes'
dl-export m.safetensors -o m.keras
