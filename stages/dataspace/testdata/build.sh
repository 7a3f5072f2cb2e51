#!/bin/sh
# Builds access_arm64 in this folder; needs a cross compiler (gcc-aarch64-linux-gnu).
set -e
cd "$(dirname "$0")"
aarch64-linux-gnu-gcc -g -gdwarf-5 -O2 -ftls-model=local-exec -fno-inline -nostdlib -static -Wl,-e,global \
	-ffile-prefix-map="$PWD"=. -o access_arm64 access.c
