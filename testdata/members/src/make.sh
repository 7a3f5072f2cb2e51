#!/bin/bash
# make.sh OUT: builds the programs, records with perf what hardware breakpoints
# see, and packs what tests need into OUT/recordings.tar.gz and OUT/symfs.tar.gz.
# It wants gcc, g++, clang, perf, and four breakpoints of 8 bytes.
set -euo pipefail
out=$(realpath "$1"); src=$(realpath "$(dirname "$0")"); root=/tmp/members
clang=${CLANG:-clang-14}
rm -rf $root; mkdir -p $root/bin $root/members $root/nobuildid; cd $root
common="-g -ffile-prefix-map=$src=$root/src -ffile-prefix-map=$root=$root -no-pie"
gcc -O1 -c $src/../../data/src/truth.c -o truth.o

compiler() { case $1.$2 in gcc.c) echo gcc;; gcc.cpp) echo g++;; clang.c) echo $clang;; clang.cpp) echo ${clang/clang/clang++};; esac; }

# watch NAME ADDRESS: 32 bytes; the truth is what the program prints
watch() {
	local events=()
	for i in 0 8 16 24; do events+=(-e "$(printf 'mem:0x%x/8:rw:u' $(($2 + i)))"); done
	perf --buildid-dir $root/nobuildid record -N -q -c 1 -d -o members/$1.data "${events[@]}" bin/$1 > members/$1.truth
}

# watched FILE COMPILER FLAGS...: where the file has no variable `watched`, it maps
# the memory at an address of its own
watched() {
	local file=$1 family=$2; shift 2
	local name=${file%.*}_${family}_$(echo "$*" | sed 's/^-//; s/ -/_/g')
	(cd $src && $(compiler $family ${file##*.}) $common "$@" -w $file $root/truth.o -o $root/bin/$name)
	local at=$(nm bin/$name | sed -n 's/ . watched$//p')
	watch $name 0x${at:-20000100}
}

for file in bits.c unions.c statics.c arena.c embed.c classes.cpp; do
	for family in gcc clang; do
		watched $file $family -O0
		watched $file $family -O1 -gdwarf-4
		watched $file $family -O2
		watched $file $family -O3 -gdwarf-4
	done
done

mkdir -p symfs$root; cp -r bin symfs$root/
mkdir -p $out
pack() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c "${@:2}" | gzip -9n > $out/$1; }
pack recordings.tar.gz members
pack symfs.tar.gz symfs
ls -l $out/*.gz
