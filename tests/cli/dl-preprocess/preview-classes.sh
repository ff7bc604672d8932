#!/bin/bash
# A preview has pictures of every class, as many of each as there is room for, with names; the same
# ones each time, from folders and archives; without classes those of every folder.
picture() { # FILE LEVEL
  mkdir -p "${1%/*}" && printf 'P5 1 1 255\n%b' "\\x$(printf %02x "$2")" >"$1"
}
for i in {1..150}; do picture "pets/ant/$(printf %03d "$i").pgm" "$i"; done
for i in {1..70}; do picture "pets/bee/$(printf %03d "$i").pgm" "$i"; done
for i in 1 2 3; do picture "pets/cat/$i.pgm" 200; done
preview() { dl-preprocess images --size 1x1 --preview sheet.png "$@"; }
count() { tr '\t' '\n' | sort | uniq -c | sed 's/^ *//'; }
preview pets >labels && count <labels && head -n 4 labels && cp sheet.png first.png
preview pets --threads 1 --batch 3 | cmp - labels && cmp sheet.png first.png && echo 'the same once more'
tar -cf pets.tar --sort=name pets && preview pets.tar | count
(cd pets && tar --sort=name -cf ../by-suffix.tar ant bee) && preview --webdataset --label-from key --label-pattern '^(.)' by-suffix.tar | count
echo '== without classes'
preview --no-labels pets && echo "status $?"
python3 - <<'PY'
import struct, zlib
data = open("sheet.png", "rb").read()
width, height = struct.unpack(">II", data[16:24])
size, = struct.unpack(">I", data[33:37])
pixels = zlib.decompress(data[41:41 + size])
channels = len(pixels) // height // width
at = lambda y, x: pixels[y * (channels * width + 1) + 1 + channels * x]
levels = [at(4 + 100 * (i // 8) + 50, 4 + 100 * (i % 8) + 50) for i in range(64)]
print("cats", levels.count(200))
PY
echo '== what is bad'
printf 'no picture' >pets/cat/2.pgm && preview pets
echo "status $?"
preview pets --max-bad 1 | count
