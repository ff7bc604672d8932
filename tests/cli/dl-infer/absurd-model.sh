# A file that is no model, or a model with something behind it, is refused by its first
# bytes, whatever its size.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
pets 1 6 >pets.dls
ulimit -S -v 2000000
dl-infer --version >/dev/null 2>&1 || ulimit -S -v unlimited # a sanitizer
try() { dl-infer --model "$@" pets.dls; echo "$?"; }
truncate -s 1T zeros
try zeros
try /dev/zero
cp "$model" . && cp "$model" longer && truncate -s 1T longer
try longer
try 'pipe:cat pets.safetensors /dev/zero'
# A header of a terabyte, and one of 64 MiB, in a file of 40 bytes.
printf '\0\0\0\0\0\1\0\0{%31s' '' >header
try header
printf '\0\0\0\4\0\0\0\0{%31s' '' >header
try header
try 'pipe:exit 3'
