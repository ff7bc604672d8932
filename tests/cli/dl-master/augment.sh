#!/bin/bash
# Augmentation: what its sheet of pictures shows, and mistakes by name.
python3 - <<'PY'
import struct
pixels = bytes((i * 37 + i // 7) % 256 for i in range(20 * 12 * 12))
open("images", "wb").write(struct.pack(">IIII", 2051, 20, 12, 12) + pixels)
open("labels", "wb").write(struct.pack(">II", 2049, 20) + bytes(i % 3 for i in range(20)))
PY
dl-preprocess idx images labels -o train.dls
net() { # STEPS
  cat <<END
{"seed": 3, "input": {"shape": [12, 12, 1]}, "augment": [$1], "updater": {"type": "adam"},
 "layers": [{"type": "flatten"}, {"type": "output", "units": 3, "activation": "softmax",
                                 "loss": "negative_log_likelihood"}]}
END
}
net '{"type": "flip"}, {"type": "crop", "padding": 2}, {"type": "mixup"}' >net.json
dl-master --net net.json --data train.dls --preview-augment sheet.png
echo "status $?"
python3 - <<'PY'
import struct, zlib
data = open("sheet.png", "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, pixels = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
    if kind == b"IHDR":
        print("width, height, bits, color", struct.unpack(">IIBB", body[:10]))
        width, height = struct.unpack(">II", body[:8])
    elif kind == b"IDAT":
        pixels += body
    at += 12 + size
rows = [zlib.decompress(pixels)[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)]
# Pictures of 12 pixels, eight times as large, 4 apart.
sheet = [[bytes(rows[4 + 100 * i + 8 * y][4 + 100 * j + 8 * x] for y in range(12) for x in range(12))
          for j in range(9)] for i in range(8)]
images = open("images", "rb").read()[16:]
print("the first is as it is", all(row[0] == images[i * 144:i * 144 + 144] for i, row in enumerate(sheet)))
print("different pictures", len({picture for row in sheet for picture in row}))
PY
cp sheet.png before.png
dl-master --net net.json --data train.dls --preview-augment sheet.png && cmp sheet.png before.png
ls -A
# Mistakes are told, each in a line.
net '{"type": "flop"}, {"type": "crop", "pad": 1}, {"type": "rotate"}' >wrong.json
dl-master --net wrong.json --dry-run
echo "status $?"
net '{"type": "flip"}' >net.json
dl-master --net net.json --preview-augment sheet.png
echo "status $?"
dl-master --net net.json --data train.dls --preview-augment train.dls
echo "status $?"
dl-master --net net.json --data train.dls --preview-augment nowhere/sheet.png
echo "status $?"
dl-master --net net.json --data train.dls --dry-run --preview-augment sheet.png 2>&1 | head -n 1
jq 'del(.augment)' net.json >plain.json
dl-master --net plain.json --data train.dls --preview-augment sheet.png
echo "status $?"
# Numbers that are no bytes.
awk 'BEGIN { for (i = 0; i < 6; ++i) { for (j = 0; j < 144; ++j) printf "%d.5,", (i * j) % 9; print i % 3 } }' |
  dl-preprocess csv --label 145 --classes 0,1,2 -o table.dls
dl-master --net net.json --data table.dls --preview-augment sheet.png
echo "status $?"
dl-master --net net.json --data table.dls -o m.safetensors --local 1
echo "status $?"
