#!/bin/bash
# Pictures that stay JPEG in the stream: the same bytes for any number of
# threads, the pixels of u8 where a file is kept as it is, and dealt out unchanged.
picture() { # FILE SEED
  { printf 'P6 16 8 255\n' && for at in {0..127}; do
    printf '%b' "\\x$(printf %02x $((at * $2 % 256)))\\x$(printf %02x $((at + $2)))\\x40"
  done; } >"$1"
}
mkdir -p pets/cats pets/dogs
for i in 1 2 3 4 5; do
  picture "pets/cats/$i.ppm" "$i"
  picture "pets/dogs/$i.ppm" $((i + 9))
done
pre() { dl-preprocess images --size 16x8 --no-provenance "$@"; }
for threads in 1 2 4; do
  pre --store jpeg --batch 2 --threads $threads pets >$threads.dls
done
cmp 1.dls 2.dls && cmp 1.dls 4.dls && echo "same bytes"
dl-shard --info 1.dls | grep -e ^features -e ^examples
dl-shard --info --json 1.dls | grep -o '"version":"1.[0-9]"'
pre pets | dl-shard --info --json - | grep -o '"version":"1.[0-9]"'

# The files that the stream holds are pictures of their own, and kept as they are.
dl-shard -q -n 2 --shuffle --no-provenance -o dealt 1.dls
dl-shard --verify 1.dls dealt-*.dls
mkdir -p again/cats again/dogs
python3 - <<'PY'
import json, subprocess
data = subprocess.run(["zstd", "-dcq", "1.dls"], check=True, capture_output=True).stdout
while data:
    size = int.from_bytes(data[:8], "little")
    header, data = json.loads(data[8:8 + size]), data[8 + size:]
    header.pop("__metadata__", 0)
    tensor = lambda name: data[slice(*header[name]["data_offsets"])]
    if header:
        count = header["id"]["shape"][0]
        at = [int.from_bytes(tensor("features.offsets")[8 * i:][:8], "little") for i in range(count + 1)]
        for i in range(count):
            name = tensor("id")[256 * i:][:256].rstrip(b"\0").decode()
            with open("again/" + name.replace("ppm", "jpg"), "wb") as file:
                file.write(tensor("features")[at[i]:at[i + 1]])
    data = data[max([entry["data_offsets"][1] for entry in header.values()] or [0]):]
PY
# IDs differ, pixels do not.
pixels() { dl-shard --head 10 --json "$@" | grep -o '"features".*"id"\|"label.*'; }
pre --store jpeg again >kept.dls
pre again >u8.dls
cmp <(pixels 1.dls) <(pixels kept.dls) && cmp <(pixels u8.dls) <(pixels kept.dls) && echo "same pixels"
# Fewer bits, other pixels.
pre --store jpeg --quality 20 pets >low.dls
cmp -s <(pixels 1.dls) <(pixels low.dls) || echo "quality counts"

# A head is a stream of the same form.
dl-shard --head 3 1.dls | dl-shard --info - | grep ^features

# Bad files are bad records, kept or not.
head -c 200 again/cats/1.jpg >again/cats/6.jpg
pre --store jpeg again >/dev/null
echo "status $?"
pre --store jpeg --max-bad 1 again -o most.dls
echo "status $?"
dl-shard --verify most.dls
pre --store jpeg --color bgr pets >/dev/null
echo "status $?"
echo '== smart'
smart() { dl-preprocess images --store smart --print-recipe "$@" | jq -c '.tensors.features | [.store, .quality]'; }
smart --size 64x64
smart --size 128x32 --quality 70
smart --size 65x63
smart --size 32x32 --quality 70
smart --size 64x64 --color bgr
smart --size 0x0
pre --store smart pets | cmp - <(pre --store u8 pets) && echo 'as u8'
pre --store gif pets >/dev/null
echo "status $?"
pre --quality 50 pets >/dev/null
echo "status $?"
pre --store jpeg --quality 0 pets >/dev/null
echo "status $?"
dl-preprocess csv --store ragged x.csv >/dev/null
echo "status $?"
