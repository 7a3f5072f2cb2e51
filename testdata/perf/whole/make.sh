#!/bin/sh
# Makes whole.tar.gz beside this folder again (perf 6.1, gcc 12.2, two processors).
set -e
src=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
cd "$dir"
mkdir whole
gcc -O1 -o grp "$src/grp.c"
record() { perf record -q -N -e cpu-clock:u -F 999 -m 8 "$@" 2>/dev/null; }
# Several that run already, for a while; $1 says what records them.
attached() {
	./grp 1 & a=$!
	./grp 1 & b=$!
	./grp 1 & c=$!
	"$1" $a,$b,$c
	wait
}
group() { perf record -q -N -e '{cpu-clock,page-faults}:S' -F 499 -o whole/group.data -p "$1" 2>/dev/null; }
running() { record -p "$1" -o - >whole/pipe_running.data; }
killed() {
	perf record -q -N -e cpu-clock:u -F 999 -m 8 -p "$1" -o whole/killed.data 2>/dev/null & p=$!
	sleep 2
	kill -9 $p
}
record -o whole/file.data ./grp
record -z -o whole/packed.data ./grp
record --threads -o whole/directory.data ./grp
record --threads -z -o whole/directory_packed.data ./grp
record -o - ./grp >whole/pipe.data
record -z -o - ./grp >whole/pipe_packed.data
record -o - ./grp | perf inject -b -o whole/pipe_injected.data
attached running
attached group
attached killed
perf script -i whole/group.data -F pid,event,period 2>/dev/null |
	awk '{ sub(":$", "", $3); n[$1 " " $3] += $2 } END { for (k in n) print k, n[k] }' | sort >whole/group.txt
tar czf "$src/../whole.tar.gz" whole
rm -r "$dir"
