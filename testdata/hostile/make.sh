#!/bin/bash
# Makes hostile.tar.gz again: gcc 12.2, perf 6.1 and gprofng 2.40.
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=/tmp/hostile-recorded
rm -rf $work
mkdir -p $work/hostile/symfs$work
cp "$here/hostile.c" $work
cd $work
gcc -g -O0 -c -o hostile.o hostile.c
objcopy --redefine-sym work=$'work\e[2J\xff\xc2\x9b\xe2\x80\xae\'";<b>' hostile.o
program=$'p\e[2J\xff\n<b>'
gcc -o "$program" hostile.o
perf record -q -N -e cpu-clock:u -F 500 -o hostile/hostile.data "./$program"
cp "$program" program # gprofng writes unusual paths in a way of its own
gprofng collect app -p off -H on -i on -o hostile/hostile.er ./program > /dev/null
mv "$program" hostile/symfs$work
# Of the archived load objects the program is enough.
find hostile/hostile.er/archives -type f ! -name 'program*' -delete
tar --owner 0 --group 0 -czf "$here/hostile.tar.gz" hostile
rm -rf $work
