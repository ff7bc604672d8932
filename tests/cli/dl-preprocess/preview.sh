#!/bin/bash
# A sheet of the first pictures, with their labels.
picture() { # FILE RED GREEN BLUE
  printf 'P6 2 2 255\n' >"$1"
  for _ in 1 2 3 4; do printf '%b' "\\x$2\\x$3\\x$4"; done >>"$1"
}
mkdir -p pets/cats pets/dogs
for i in 1 2 3 4 5; do
  picture "pets/cats/$i.ppm" "${i}0" 00 00
  picture "pets/dogs/$i.ppm" 00 "${i}0" ff
done
dl-preprocess images --size 2x2 --preview sheet.png pets
echo "status $?"
python3 - <<'PY'
import struct, zlib
data = open("sheet.png", "rb").read()
width, height, bits, color = struct.unpack(">IIBB", data[16:26])
print("width, height, bits, color", width, height, bits, color)
size, = struct.unpack(">I", data[33:37])
pixels = zlib.decompress(data[41:41 + size])
row = lambda y: pixels[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)]
pixel = lambda i: tuple(row(4 + 100 * (i // 8) + 50)[3 * (4 + 100 * (i % 8) + 50):][:3])
print([pixel(i) for i in (0, 4, 5, 9)], "paper", pixel(15))
PY
dl-preprocess images --size 2x2 --preview pets/cats/1.ppm pets
echo "status $?"
dl-preprocess images --size 2x2 --preview sheet.png -o x.dls pets 2>&1 | head -n 1
dl-preprocess images --size 2x2 --preview nowhere/sheet.png pets
echo "status $?"
echo 'no picture' >pets/cats/0.jpg
dl-preprocess images --size 2x2 --preview sheet.png pets
echo "status $?"
dl-preprocess images --size 2x2 --max-bad 1 --preview sheet.png pets
echo "status $?"
ls
