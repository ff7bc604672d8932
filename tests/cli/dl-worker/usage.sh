#!/bin/sh
# Every way to call it wrongly: one sentence and 64.
export DL_WORKER_THREADS=1  # the cores of this host differ
try() {
  "$@"
  echo "status $?"
}
try dl-worker
try dl-worker --master tcp://a:1 --master-file x
try dl-worker --master boss:7000
try dl-worker --master tcp://boss
try dl-worker --master tcp://boss:0
try dl-worker --master tcp://boss:99999
try dl-worker --master ipc://
try dl-worker --master tcp://a:1 --threads -1
try dl-worker --master tcp://a:1 --prefetch 9999
try dl-worker --master tcp://a:1 --wait 5
try dl-worker --master tcp://a:1 --name "$(printf 'a\nb')"
try dl-worker --master tcp://boss.example:7000
try dl-worker --bogus
try dl-worker --master tcp://127.0.0.1:1 operand
DL_MASTER=nonsense try dl-worker
DL_GRACE=soon try dl-worker --master tcp://127.0.0.1:1
