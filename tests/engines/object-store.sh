#!/bin/bash
# The commands of dl-cluster(7) for object stores, with the AWS command line and a
# server of S3's protocol (moto).  A stream that is cut off on its way is refused.
# DL_S3_VENV is a virtual environment with both; else .venv/s3 of the repository is
# made, once.
limit=200
# shellcheck source=tests/engines/_lib.sh
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
venv=${DL_S3_VENV:-$DL_TEST_ROOT/.venv/s3}
if [ ! -x "$venv/bin/aws" ] || [ ! -x "$venv/bin/moto_server" ]; then
  [ -z "${DL_S3_VENV:-}" ] || skip "DL_S3_VENV=$venv has no moto_server and aws"
  { python3 -m venv "$venv" && "$venv/bin/pip" install -q 'moto[server]' awscli; } >&2 ||
    skip "no moto: it comes from PyPI, which is not reached"
fi
alone
# shellcheck source=tests/engines/_training.sh
. "$DL_TEST_ROOT/tests/engines/_training.sh"
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1
export AWS_ENDPOINT_URL=http://127.0.0.1:5000 AWS_EC2_METADATA_DISABLED=true HOME=$PWD

run store "$venv/bin/moto_server" -H 127.0.0.1 -p 5000
aws() { "$venv/bin/aws" "$@"; }
await "the store" aws s3 mb s3://shards >/dev/null 2>&1
mkdir bin
# shellcheck disable=SC2016  # for the shell in there
printf '#!/bin/sh\nexec %s s3 cp --quiet - "s3://shards/$1"\n' "$venv/bin/aws" >bin/put
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec %s s3 cp --quiet "s3://shards/$1" -\n' "$venv/bin/aws" >bin/get
chmod +x bin/put bin/get
PATH=$PWD/bin:$PATH

cp "$examples/digits.csv.gz" "$examples/digits.json" .
block 'put digits.dls.gz' >commands
bash -eu commands >out 2>said
echo "status $?"
[ -s digits.safetensors ] || fail "no model: $(cat said)"
aws s3 ls s3://shards | sed 's/.* //'

# A model through the store, and a stream that breaks off.
put model <digits.safetensors
get model | cmp - digits.safetensors && echo "the model came back"
get digits.dls.gz | gzip -dc | head -c 9000 | put cut.dls
dl-master -q --net digits.json --data 'pipe:get cut.dls' --local 1 -o cut.safetensors 2>said
echo "cut off: status $?: $(sed 's/.*: //' said | tail -n 1)"
dl-master -q --net digits.json --data 'pipe:get nothing.dls' --local 1 -o no.safetensors 2>said
echo "not there: status $?"
ls cut.safetensors no.safetensors 2>/dev/null

pgrep -x dl-worker >/dev/null || echo "no worker is left"
