# Shards of version 0.1, alone and dealt out again.
golden=$DL_TEST_ROOT/tests/golden/0.1
dl-shard --verify "$golden"/points-*.dls | sed 's/.*golden/golden/'
dl-shard --info "$golden"/points-*.dls | head -n 12
dl-shard -n 2 -o again "$golden"/points-*.dls
