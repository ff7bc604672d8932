# Parts merged are the whole, to the byte, however they were made.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
evaluate() {
  dl-eval --model "$models/pets.safetensors" --json -e classification:top=2 \
    -e roc -e roc:steps=10 -e calibration "$@"
}
pets 1 6 | evaluate >all.json
for range in '1 1' '2 2' '3 6'; do
  # shellcheck disable=SC2086
  pets $range >"part-${range% *}.dls"
  evaluate "part-${range% *}.dls" >"part-${range% *}.json"
done
dl-eval --merge --json 'part-*.json' | cmp - all.json && echo same
dl-eval --merge --json part-3.json part-1.json part-2.json | cmp - all.json && echo same
dl-eval --merge --json part-2.json part-3.json >two.json
dl-eval --merge --json - part-1.json <two.json | cmp - all.json && echo same
for n in 1 2 3 9; do
  evaluate --local $n 'part-*.dls' | cmp - all.json && echo same
done
evaluate --batch 2 --threads 3 'part-*.dls' | cmp - all.json && echo same
dl-eval --merge all.json | head -n 5
