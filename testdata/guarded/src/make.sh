#!/bin/bash
# make.sh OUT [FILE...]: builds the programs here, or others that acceptance/members has
# made, records with perf every access to their objects, and packs what tests need into
# OUT/recordings.tar.gz and OUT/symfs.tar.gz. It wants gcc, g++, clang and perf, on x86-64.
set -euo pipefail
out=$(realpath "$1"); src=$(realpath "$(dirname "$0")"); root=/tmp/guarded; shift
[ $# -gt 0 ] || set -- "$src"/g[0-9]*.c "$src"/g[0-9]*.cpp "$src"/fields.c
clang=${CLANG:-clang-14}
files=(); for f in "$@"; do files+=("$(realpath "$f")"); done
rm -rf $root; mkdir -p $root/bin $root/guarded $root/nobuildid; cd $root
gcc -O1 -c "$src/guard.c" -o guard.o; gcc -O1 -c "$src/../../data/src/truth.c" -o truth.o

compiler() { case $1.$2 in gcc.c) echo gcc;; gcc.cpp) echo g++;; clang.c) echo $clang;; clang.cpp) echo ${clang/clang/clang++};; esac; }

# guarded FILE COMPILER FLAGS...: the truth is what the program prints
guarded() {
	local file=$1 family=$2; shift 2
	local base=${file##*/}; local name=${base//./_}_${family}_$(echo "$*" | sed 's/^-//; s/ -/_/g')
	$(compiler $family ${file##*.}) -g -w -fno-strict-aliasing -I"$src" -ffile-prefix-map="${file%/*}"=$root/src -ffile-prefix-map=$root=$root "$@" -o bin/$name "$file" guard.o truth.o
	perf --buildid-dir $root/nobuildid record -N -q -c 1 -d -e page-faults:u -o guarded/$name.data bin/$name > guarded/$name.truth
}

for file in "${files[@]}"; do
	for family in gcc clang; do
		guarded $file $family -O0 -gdwarf-4
		guarded $file $family -O1
		guarded $file $family -O2 -gdwarf-4
		guarded $file $family -O3
	done
done

mkdir -p symfs$root; cp -r bin symfs$root/
mkdir -p "$out"
pack() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c "${@:2}" | gzip -9n > "$out/$1"; }
pack recordings.tar.gz guarded
pack symfs.tar.gz symfs
ls -l "$out"/*.gz
