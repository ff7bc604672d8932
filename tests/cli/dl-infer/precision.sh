# Weights may be held in less than they are stored in.
golden=$DL_TEST_ROOT/tests/golden/0.1
infer() { dl-infer --model "$golden/model.safetensors" "$@" "$golden/points-test-000.dls"; }
infer --device cpu >exact
infer --device cpu --precision float32 | cmp - exact && echo "float32 is the default"
for batch in 1 2 256; do
  for threads in 1 2; do
    infer --device cpu --precision bfloat16 --batch $batch --threads $threads | md5sum
  done
done | uniq | wc -l
infer --device cpu --precision bfloat16 >near
cmp -s near exact || echo "numbers differ"
python3 - exact near <<'PY'
import json, sys
exact, near = ([json.loads(line)["probability"] for line in open(name)] for name in sys.argv[1:])
print("by", "little" if max(abs(a - b) for a, b in zip(exact, near)) < 0.01 else "much")
PY
for precision in float32 bfloat16; do
  dl-eval --device cpu --model "$golden/model.safetensors" --precision $precision \
    "$golden/points-test-000.dls" | grep accuracy
done
status() { "$@"; echo "status $?"; }
status infer --precision half
status infer --precision bfloat16 --device reference
status infer --precision tf32 --device cpu
status dl-eval --merge --precision bfloat16 no.json
