#!/bin/bash
dl-master --epoch 3
