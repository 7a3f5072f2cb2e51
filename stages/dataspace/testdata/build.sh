#!/bin/sh
# Builds access_arm64 and, on x86-64, access_386 in this folder; needs a cross
# compiler (gcc-aarch64-linux-gnu).
set -e
cd "$(dirname "$0")"
aarch64-linux-gnu-gcc -g -gdwarf-5 -O2 -ftls-model=local-exec -fno-inline -nostdlib -static -Wl,-e,global \
	-ffile-prefix-map="$PWD"=. -o access_arm64 access.c
gcc -m32 -g -gdwarf-5 -O2 -ftls-model=local-exec -fno-inline -fno-pic -no-pie -fno-stack-protector -nostdlib -static -Wl,-e,global \
	-ffile-prefix-map="$PWD"=. -o access_386 access.c
