#!/bin/bash
# The check of a GPU runs, here over an emulation of CUDA, and says where there
# is none.
bin=$(dirname "$(command -v dl-worker)")
[ -e "$bin/libemulated_cuda.so" ] || { echo 'no CUDA toolkit' >&2; exit 77; }
check() { "$DL_TEST_ROOT/scripts/gpu-check" --build "$bin/.." "$@"; }
# Whatever is installed here.
mkdir without
echo 'raise ImportError("none in this test")' >without/torch.py
export PYTHONPATH=$PWD/without
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --only "sums*,rows*" --tiny --json found.json >found.txt
echo "status $?"
grep -c 'passed .* All tests passed' found.txt
grep -A 1 '^training' found.txt
grep 'no PyTorch' found.txt
python3 -c '
import json
found = json.load(open("found.json"))
print(found["device"], *(part["part"] + ": " + part["result"] for part in found["parts"]))
for row in found["speeds"]["training"]:
    print(row["network"], row["batch"], row["precision"], *row["sides"], row["ratios"],
          row["sides"]["ours"]["examples_per_second"] > 0)
coding = found["speeds"]["coding"]
print("coding", coding["elements"], coding["quanta"], coding["of_copy"] > 0)'
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --only "no such test" --tiny >/dev/null
echo "status $?"
# A test that breaks all hides no other; this one does in two precisions of three.
mkdir -p broken/bin broken/tests
ln -s "$bin/dl-worker" broken/bin
cat >broken/tests/unit_device <<'END'
#!/bin/bash
case $1$DL_TEST_PRECISION in
  --list*) printf '%s\n' first second third fourth ;;
  second | secondtf32) echo 'it breaks'; kill -SEGV $$ ;;
  third*) echo 'assertions: - none -' ;;
  *) echo 'All tests passed (1 assertion in 1 test case)' ;;
esac
END
chmod +x broken/tests/unit_device
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --build broken >found.txt
echo "status $?"
sed -n '/^----/,$p' found.txt
# Without Python all run as one.
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so DL_PEERS_PYTHON=none check --only "sums*,rows*" >found.txt
echo "status $?"
grep -c 'passed .* All tests passed' found.txt
DL_CUDA_PLUGIN=$bin/libemulated_cuda.so check --device cuda:5 >/dev/null
echo "status $?"
DL_CUDA_PLUGIN=none.so check
echo "status $?"
check --tiny --none
echo "status $?"
