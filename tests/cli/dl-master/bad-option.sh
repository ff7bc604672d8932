#!/bin/bash
dl-master --epoch 3
dl-master --learning-rate=0.1
dl-master --optimizer adam
