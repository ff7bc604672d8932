#!/bin/bash
# Files that are cut, packed to burst, or of other members than they should have.
golden=$DL_TEST_ROOT/tests/golden/keras
try() {
	dl-import -q "$@" -o m.safetensors
	echo "status $?"
}
head -c 20000 "$golden/image.keras" >cut.keras
try cut.keras
head -c 20000 "$golden/image.h5" >cut.h5
try cut.h5
python3 - "$golden/pair.keras" <<'PY'
import sys, zipfile
members = {n: zipfile.ZipFile(sys.argv[1]).read(n) for n in ("config.json", "metadata.json", "model.weights.h5")}


def write(name, **changed):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for member, data in {**members, **{k.replace("__", "."): v for k, v in changed.items()}}.items():
            if data is not None:
                z.writestr(member, data)


write("bomb.keras", model__weights__h5=bytes(300 << 20))
write("long.keras", config__json=b" " * (64 << 20))
write("bare.keras", config__json=None)
write("weightless.keras", model__weights__h5=None)
write("no-hdf5.keras", model__weights__h5=b"hello")
with zipfile.ZipFile("paths.keras", "w") as z:
    z.writestr("../../config.json", members["config.json"])
    z.writestr("/etc/passwd", b"root")
with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("x.npy", bytes(300 << 20))
PY
for file in bomb long bare weightless no-hdf5 paths; do try $file.keras; done
dl-import "$golden/pair.keras" --check bomb.npz
echo "status $?"
# Shapes in the file that are not those of the configuration.
sed 's/"units": 3/"units": 4/' "$golden/words.json" >other.json
try other.json --weights "$golden/words.weights.h5"
ls ./*.safetensors 2>/dev/null
rm -f ./*.keras ./*.npz
