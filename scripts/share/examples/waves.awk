# awk -f waves.awk: 600 noisy waves of three shapes, 20 steps each, as CSV.
BEGIN {
  srand(1)
  print "wave,value,shape"
  for (wave = 0; wave < 600; wave++) {
    shape = int(3 * rand())
    phase = rand()
    for (step = 0; step < 20; step++) {
      turn = (phase + step / 10) % 1
      if (shape == 0) { name = "sine"; value = sin(6.2832 * turn) }
      if (shape == 1) { name = "square"; value = turn < 0.5 ? 1 : -1 }
      if (shape == 2) { name = "saw"; value = 2 * turn - 1 }
      printf "%d,%.4f,%s\n", wave, value + 0.1 * rand(), name
    }
  }
}
