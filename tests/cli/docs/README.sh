. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page README.md
cp "$DL_TEST_ROOT/tests/golden/keras/pair.keras" model.keras
cp "$DL_TEST_ROOT/tests/golden/onnx/image.onnx" model.onnx
ln -s "$DL_TEST_ROOT/scripts" scripts
mnist site/mnist 512 128
export DL_DATA_MIRROR=file://$PWD/site DL_DATA_CHECKSUMS=$PWD/sums
for file in site/mnist/*; do
  echo "sha256:$(sha256sum <"$file" | cut -d ' ' -f 1) ${file##*/}"
done >sums

skip_next 'make demo' 'they are what runs this; the demo has a test of its own'
run_next 'scripts/share/examples/photos/draw'
dl-eval -q --model photos.safetensors --min accuracy=0.9 photos-test-000.dls >/dev/null || fail 'a worse model of photographs'
sed -n 's/^{"index":[01],"id":"\([0-9.a-z]*\)","class":"night".*/\1/p' .blocks/$next.out
rm -r photos*
run_next 'scripts/share/examples/digits.json'
# The example's output is that of this page, up to the last digits of a processor.
grep -F -e digits-train-000.dls -e digits-test-000.dls .blocks/$next.out | diff - \
  <(grep -E '^digits-(train|test)-000.dls' "$DL_TEST_ROOT/README.md") || fail 'other shards'
dl-eval -q --model digits.safetensors --min accuracy=0.96 'digits-test-*.dls' >/dev/null || fail 'a worse model'
grep -o '^{"index":[01],"class":"[0-9]"' .blocks/$next.out
rm -r digits*
run_next 'scripts/share/get-data mnist mnist'
run_next 'waves.awk'
run_next '--zip'
run_next '--output-of'
skip_next '--hosts' 'other hosts'
skip_next 'srun dl-worker' 'other hosts'
run_next 'dl-export model.safetensors'
skip_next 'make install' 'builds and installs'
page_ends
