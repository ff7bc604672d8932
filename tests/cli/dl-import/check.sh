#!/bin/bash
# Data for --check are read once, whatever they come through, and must have examples.
golden=$DL_TEST_ROOT/tests/golden/keras
printf '1,2,3,0,0,0\n8,7,6,5,4,3\n' >x.csv
dl-import -q "$golden/words.json" --weights "$golden/words.weights.h5" -o m.safetensors
dl-preprocess csv -q --label none --no-provenance x.csv >x.dls
dl-infer -q --model m.safetensors --format dls x.dls >y.dls
check() {
	timeout 60 dl-import -q "$golden/words.json" --weights "$golden/words.weights.h5" "$@" |
		sed 's/difference .*/difference .../'
	echo "status ${PIPESTATUS[0]}"
}
check --check x.dls --expect y.dls
mkfifo fifo
cat x.dls >fifo &
check --check fifo --expect y.dls
wait
check --check - --expect y.dls <x.dls
check --check 'pipe:echo run >>runs; cat x.dls' --expect y.dls
wc -l <runs
# Nothing to check with, and a tolerance that is none.
: >empty
check --check empty --expect y.dls
python3 - <<'PY'
import struct
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 6), }\n"
with open("none.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
PY
check --check none.npy --expect none.npy
check --check x.dls --expect y.dls --tolerance -1
check --check x.dls --expect y.dls --tolerance nan
check --check x.dls --expect y.dls --absolute -1
# A difference may be so large by itself: all of these outputs are within it.
printf '0,0\n0,0\n' >zeros.csv
check --check x.csv --expect zeros.csv
check --check x.csv --expect zeros.csv --absolute 1e9
check --check x.csv --expect zeros.csv --absolute 0 --tolerance 1e9
# A model whose outputs differ is not written.
printf '5,5\n5,5\n' >wrong.csv
check --check x.csv --expect wrong.csv -o wrong.safetensors
# Beside an infinite number no difference is small.
python3 - <<'PY'
import struct
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n"
with open("infinite.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header)
    f.write(struct.pack("<4f", float("inf"), 5, -7, 5))
PY
check --check x.csv --expect infinite.npy -o wrong.safetensors
ls ./*.safetensors
