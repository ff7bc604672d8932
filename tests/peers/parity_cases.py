"""All cases of parity.py."""

import parity_extremes
import parity_layers
import parity_networks
import parity_sequences
import parity_training

CASES = [*parity_layers.CASES, *parity_sequences.CASES, *parity_training.CASES,
         *parity_networks.CASES, *parity_extremes.CASES]
