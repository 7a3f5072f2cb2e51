#!/bin/bash
# make.sh OUT: builds the programs, records them with perf and packs what tests
# need into OUT/recordings.tar.gz and OUT/symfs.tar.gz. It wants gcc, g++,
# gfortran, clang, perf, and hardware breakpoints for `watch`.
set -euo pipefail
out=$(realpath "$1"); src=$(realpath "$(dirname "$0")"); root=/tmp/data
clang=${CLANG:-clang-14}
rm -rf $root; mkdir -p $root/bin $root/data $root/nobuildid; cd $root
common="-g -ffile-prefix-map=$src=$root/src -ffile-prefix-map=$root=$root"
gcc -O1 -c $src/truth.c -o truth.o

compiler() { case $1.$2 in gcc.c) echo gcc;; gcc.cpp) echo g++;; gcc.f90) echo gfortran -J$root;; clang.c) echo $clang;; clang.cpp) echo ${clang/clang/clang++};; esac; }

# build FILE COMPILER NAME FLAGS...
build() {
	local file=$1 family=$2 name=$3; shift 3
	(cd $src && $(compiler $family ${file##*.}) $common "$@" -w $file $root/truth.o -o $root/bin/$name -lpthread)
}

# record NAME PERF'S FLAGS...: the truth is what the program prints
record() {
	local name=$1; shift
	perf --buildid-dir $root/nobuildid record -N -q -c 1 -d -o data/$name.data "$@" $root/bin/$name > data/$name.truth
}

faults() { # FILE COMPILER OPTIMISATION FLAGS...
	local name=${1%.*}_$2_${3#-}; local file=$1 family=$2; shift 2
	build $file $family $name "$@"
	record $name -e page-faults:u
}

for f in scalars.c records.c chase.c loops.c pools.c objects.cpp entities.cpp; do
	faults $f gcc -O0
	faults $f gcc -O1 -gdwarf-4
	faults $f gcc -O2
	faults $f clang -O2
done
faults scalars.c gcc -O3 -gdwarf-4 -no-pie -fno-pie
faults records.c gcc -O3 -minline-all-stringops
faults chase.c gcc -O3 -gdwarf-4 -no-pie -fno-pie
faults pools.c gcc -O3 -march=x86-64-v3
faults loops.c gcc -O3 -march=x86-64-v3
faults loops.c clang -O3 -march=x86-64-v4 -gdwarf-4
faults objects.cpp gcc -O3 -flto -gdwarf-4
faults entities.cpp gcc -O3
faults containers.cpp gcc -O1 -gdwarf-4 -gz=zlib
faults containers.cpp gcc -O2 -gz=zlib
faults fields.f90 gcc -O0
faults fields.f90 gcc -O2 -gdwarf-4
faults fields.f90 gcc -O3

watched() { # COMPILER OPTIMISATION FLAGS...
	local name=watch_$1_${2#-} family=$1; shift
	build watch.c $family $name -no-pie "$@"
	record $name -e mem:0x$(nm bin/$name | sed -n 's/ . watched$//p')/4:rw:u -e mem:0x20000008/8:rw:u -e mem:0x20000010/4:rw:u -e mem:0x20000018/8:rw:u
}
watched gcc -O0
watched gcc -O2 -gdwarf-4
watched gcc -O3
watched clang -O2

(cd $src && gcc $common -O2 -nostdlib -static -no-pie -w backtrack.c -o $root/bin/backtrack)
strip -g -o bin/backtrack_stripped bin/backtrack

mkdir -p symfs$root; cp -r bin symfs$root/
mkdir -p $out
pack() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c "${@:2}" | gzip -9n > $out/$1; }
pack recordings.tar.gz data
pack symfs.tar.gz symfs
ls -l $out/*.gz
