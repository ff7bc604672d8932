# The real files, whole; memory does not grow with the input.
[ -n "$DL_TEST_DATA" ] || { echo "no real data at DL_TEST_DATA" >&2; exit 77; }
m=$DL_TEST_DATA/mnist
dl-preprocess idx "$m/t10k-images-idx3-ubyte.gz" "$m/t10k-labels-idx1-ubyte.gz" --json -o test.dls
cat >peak.py <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
i=$m/train-images-idx3-ubyte.gz l=$m/train-labels-idx1-ubyte.gz
one=$(python3 peak.py dl-preprocess idx "$i" "$l")
five=$(python3 peak.py dl-preprocess idx "$i" "$l" "$i" "$l" "$i" "$l" "$i" "$l" "$i" "$l")
[ "$five" -lt $((one + one / 4)) ] || echo "peak memory grew from $one to $five KiB"
