# The wheels of both Python packages are made without a network, and hold them.
for python in python3 /usr/bin/python3; do
  "$python" -c 'import setuptools, pip, wheel' 2>/dev/null && found=yes
done
[ -n "${found:-}" ] || { echo "no python3 has pip, setuptools and wheel" >&2; exit 77; }
"$DL_TEST_ROOT/scripts/wheel" "$PWD/wheels" >said
sed "s,$PWD/,," said
for wheel in wheels/*.whl; do
  python3 -m zipfile -l "$wheel" | grep -oE 'dl_(spark|tools)/(tools|shards)\.py'
done
