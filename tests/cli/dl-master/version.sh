#!/bin/bash
dl-master --version | sed -n 1p
