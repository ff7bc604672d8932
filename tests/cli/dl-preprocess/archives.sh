# Archives that were cut short, joined, or that hold more than memory should.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture a/1.ppm 8 8 1 && picture a/2.ppm 8 8 2
try() {
  dl-preprocess images -q --size 4x4 "$@" -o out.dls
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  rm -f out.dls
}
tar --format=ustar -cf all.tar a
members=$(python3 - <<'END'
import tarfile
with tarfile.open("all.tar") as tar:
    print(tar.getmembers()[-1].offset)
END
)
echo '== without an end'
head -c "$members" all.tar >cut.tar && try cut.tar
head -c "$members" all.tar | try -
try "pipe:head -c $members all.tar"
head -c $((members + 100)) all.tar >cut.tar && try cut.tar
tar --format=pax --pax-option=comment:=y -cf pax.tar a/1.ppm
head -c 1024 pax.tar >cut.tar && try cut.tar
(head -c 1024 pax.tar && head -c 1024 /dev/zero) >cut.tar && try cut.tar
(head -c "$members" all.tar && head -c 512 /dev/zero) >one.tar && try one.tar
echo '== joined'
tar --format=ustar -cf more.tar a/2.ppm
cat all.tar more.tar >joined.tar && try joined.tar
dl-preprocess images -q --size 4x4 joined.tar -o out.dls && dl-shard --head 9 --json out.dls | jq -r .id
rm out.dls
(cat all.tar && echo more) >joined.tar && try joined.tar
(cat all.tar && head -c 600 /dev/urandom) >joined.tar && try joined.tar
echo '== more than memory should hold'
python3 - <<'END'
import gzip, io, tarfile
with gzip.open("zeros.tar.gz", "wb", 1) as out, tarfile.open(fileobj=out, mode="w|") as tar:
    for i in range(14):
        info = tarfile.TarInfo(f"x.{i}")
        info.size = 20 << 20
        tar.addfile(info, io.BytesIO(bytes(info.size)))
END
(ulimit -v 1500000 && try --webdataset --no-labels --threads 1 zeros.tar.gz)
