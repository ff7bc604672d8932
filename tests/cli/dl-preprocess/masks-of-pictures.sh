#!/bin/bash
# A mask belongs to its picture pixel by pixel: one that lies otherwise, as EXIF turns only one of
# them, or that has other proportions, is a bad record that names both.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
cat >r.json <<'JSON'
{"source": {"type": "webdataset"}, "tensors": {
  "features": {"type": "image", "from": "jpg;ppm", "size": [4, 4]},
  "labels": {"type": "image", "from": "mask.pgm;mask.jpg", "size": [4, 4], "color": "grey", "interpolation": "nearest"},
  "id": {"type": "id", "from": "key"}}}
JSON
python3 - <<'PY'
# A TIFF of 6 x 3 whose EXIF says that it is turned by a quarter.
import struct
def tiff(path, width, height, orientation):
    entries = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
               (273, 4, 1, 8), (274, 3, 1, orientation), (277, 3, 1, 1), (278, 3, 1, height), (279, 4, 1, width * height)]
    pixels = bytes(range(width * height))
    body = pixels + b"\0" * (len(pixels) % 2)
    directory = struct.pack("<H", len(entries)) + b"".join(
        struct.pack("<HHII" if kind == 4 else "<HHIHxx", tag, kind, count, value) for tag, kind, count, value in entries) + bytes(4)
    open(path, "wb").write(b"II*\0" + struct.pack("<I", 8 + len(body)) + body + directory)
tiff("turned.tif", 6, 3, 6)
PY
try() { # MASK: with a picture of 6 x 3
  rm -rf data && mkdir -p data/a && picture data/a/1.ppm 6 3 1 && mv "$1" "data/a/1.mask.${2:-pgm}"
  dl-preprocess --recipe r.json data -o x.dls
  echo "status $?"
}
picture same.pgm 6 3 1 && try same.pgm
picture double.pgm 12 6 1 && try double.pgm
picture high.pgm 3 6 1 && try high.pgm
picture other.pgm 6 4 1 && try other.pgm
try turned.tif jpg
picture data/b/1.ppm 3 6 1 && picture data/b/1.mask.pgm 3 6 1 && tar -C data -cf all.tar a b
dl-preprocess --recipe r.json all.tar --max-bad 1 -o x.dls && dl-shard --head 3 --json x.dls | jq -c .id
