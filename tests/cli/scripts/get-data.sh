# get-data: downloads, checks, keeps nothing damaged, and is harmless to repeat.
get=$DL_TEST_ROOT/scripts/share/get-data
for need in python3 curl; do
  command -v $need >/dev/null || { echo "no $need" >&2; exit 77; }
done
mkdir -p site/mnist
echo images >site/mnist/images.gz
echo labels >site/mnist/labels.gz
for file in images.gz labels.gz; do
  echo "sha256:$(sha256sum <"site/mnist/$file" | cut -d ' ' -f 1) $file"
done >sums

: >server.log  # it may be looked at before the server has made it
python3 -u -m http.server --bind 127.0.0.1 --directory site 0 >>server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
# The server's first line names its port.
port=
until [ -n "$port" ]; do
  kill -0 $server || exit
  port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' server.log)
done
export DL_DATA_MIRROR=http://127.0.0.1:$port DL_DATA_CHECKSUMS=$PWD/sums

$get mnist out || exit
$get mnist out || exit
echo "-- a damaged copy is fetched again"
echo broken >out/labels.gz
$get mnist out || exit
cmp out/labels.gz site/mnist/labels.gz || exit
echo "-- a wrong checksum is not kept"
echo other >site/mnist/labels.gz
rm out/labels.gz
$get mnist out
echo "status $?"
ls -A out
echo "-- a missing file"
rm site/mnist/labels.gz
$get mnist out
echo "status $?"
ls -A out
$get nothing
echo "status $?"
