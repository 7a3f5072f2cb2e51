package main

// program is a program to record with perf.
type program struct {
	name    string
	needs   []string // commands that this machine must have
	modes   []mode   // how to record it: one recording for each
	prepare string   // shell script that runs before and is not recorded
	command string   // shell script to record; it runs in the folder of inputs
	system  bool     // record the whole machine
}

// mode is a way to record stacks: its name, and perf's options for it.
type mode struct{ name, options string }

var (
	fp    = mode{"fp", "-F 997 -g"}
	dwarf = mode{"dwarf", "-F 397 --call-graph dwarf,16384"}
	small = mode{"small", "-F 397 --call-graph dwarf,2048"} // dumps so small that stacks are cut
	none  = mode{"none", "-F 1997"}
)

// packages are the Debian packages that have the commands.
var packages = map[string]string{
	"brotli": "brotli", "bzip2": "bzip2", "clang": "clang", "convert": "imagemagick", "cmake": "cmake", "g++": "g++", "gawk": "gawk", "gcc": "gcc",
	"gfortran": "gfortran", "git": "git", "go": "golang", "gprofng": "binutils", "java": "default-jdk-headless", "javac": "default-jdk-headless",
	"lua5.4": "lua5.4", "make": "make", "mawk": "mawk", "node": "nodejs", "openssl": "openssl", "perf": "linux-perf", "perl": "perl", "php": "php-cli",
	"python3": "python3", "redis-server": "redis-server", "ruby": "ruby", "sqlite3": "sqlite3", "xz": "xz-utils", "zstd": "zstd", "postgres": "postgresql",
}

// programs are recorded with perf. Their input files are in testdata/inputs.
var programs = []program{
	{name: "gcc", needs: []string{"gcc"}, modes: []mode{fp, small}, command: "gcc -O2 -c large.c -o gcc.o"},
	{name: "g++", needs: []string{"g++"}, modes: []mode{dwarf, none}, command: "g++ -O1 -c regex.cpp -o gxx.o"},
	{name: "clang", needs: []string{"clang"}, modes: []mode{fp, dwarf}, command: "clang -O2 -c large.c -o clang.o"},
	{name: "go-build", needs: []string{"go"}, modes: []mode{fp}, command: "GOCACHE=$PWD/go-cache GOFLAGS=-mod=mod go build -o go.out $(go env GOROOT)/src/cmd/gofmt; rm -rf go-cache"},
	{name: "go-vet", needs: []string{"go"}, modes: []mode{dwarf}, command: "GOCACHE=$PWD/vet-cache go vet json.go; rm -rf vet-cache"},
	{name: "go-program", needs: []string{"go"}, modes: []mode{fp, dwarf, none}, prepare: "go build -o json json.go", command: "./json"},
	{name: "python3", needs: []string{"python3"}, modes: []mode{fp, dwarf}, command: "python3 words.py"},
	{name: "perl", needs: []string{"perl"}, modes: []mode{fp, dwarf, none}, command: "perl words.pl text"},
	{name: "node", needs: []string{"node"}, modes: []mode{fp}, command: "node --perf-basic-prof --interpreted-frames-native-stack words.js"},
	{name: "node-none", needs: []string{"node"}, modes: []mode{dwarf}, command: "node words.js"},
	{name: "lua", needs: []string{"lua5.4"}, modes: []mode{dwarf, none}, command: "lua5.4 words.lua"},
	{name: "mawk", needs: []string{"mawk"}, modes: []mode{dwarf}, command: "mawk -f words.awk text text text"},
	{name: "gawk", needs: []string{"gawk"}, modes: []mode{none}, command: "gawk -f words.awk text text"},
	{name: "bash", needs: []string{"bash"}, modes: []mode{fp, dwarf}, command: "bash loop.sh"},
	{name: "php", needs: []string{"php"}, modes: []mode{dwarf}, command: "php words.php"},
	{name: "ruby", needs: []string{"ruby"}, modes: []mode{dwarf, fp}, command: "ruby words.rb"},
	{name: "xz", needs: []string{"xz"}, modes: []mode{dwarf, none}, command: "xz -T2 -2 -c text | xz -dc >/dev/null"},
	{name: "zstd", needs: []string{"zstd"}, modes: []mode{fp}, command: "zstd -9 -q -c text text >/dev/null"},
	{name: "gzip", needs: []string{"gzip"}, modes: []mode{none, dwarf}, command: "gzip -c text >text.gz; gzip -dc text.gz >/dev/null"},
	{name: "bzip2", needs: []string{"bzip2"}, modes: []mode{dwarf}, command: "bzip2 -c text >/dev/null"},
	{name: "brotli", needs: []string{"brotli"}, modes: []mode{dwarf}, command: "brotli -q 7 -f -o text.br text; brotli -dc text.br >/dev/null"},
	{name: "sqlite3", needs: []string{"sqlite3"}, modes: []mode{fp, dwarf}, command: "sqlite3 :memory: <words.sql"},
	{name: "redis", needs: []string{"redis-server"}, modes: []mode{dwarf}, command: "sh redis.sh"},
	{name: "postgres", needs: []string{"postgres"}, modes: []mode{dwarf}, prepare: "sh initdb.sh", command: "sh postgres.sh"},
	{name: "exceptions", needs: []string{"g++"}, modes: []mode{fp, dwarf, none}, prepare: "g++ -O2 -g -o exceptions exceptions.cpp", command: "./exceptions"},
	{name: "threads", needs: []string{"gcc"}, modes: []mode{fp, dwarf}, prepare: "gcc -O1 -fno-omit-frame-pointer -g -pthread -o threads threads.c", command: "./threads"},
	{name: "openmp", needs: []string{"gcc"}, modes: []mode{fp, dwarf}, prepare: "gcc -O2 -g -fopenmp -o openmp openmp.c -lm", command: "OMP_NUM_THREADS=2 ./openmp"},
	{name: "signals", needs: []string{"gcc"}, modes: []mode{fp, dwarf}, prepare: "gcc -O1 -fno-omit-frame-pointer -g -o signals signals.c", command: "./signals"},
	{name: "configure", needs: []string{"gcc"}, modes: []mode{fp, dwarf}, command: "sh configure.sh"},
	{name: "make", needs: []string{"make", "gcc"}, modes: []mode{none, dwarf}, command: "rm -f parts/*.o; make -s -j2 -C parts"},
	{name: "java", needs: []string{"java", "javac"}, modes: []mode{fp}, prepare: "javac Words.java",
		command: "java -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit Words"},
	{name: "git", needs: []string{"git"}, modes: []mode{fp, dwarf}, prepare: "sh repository.sh", command: "git -C repository log -p --stat | tail -1; git -C repository gc -q; git -C repository fsck"},
	{name: "text", needs: []string{"sort", "grep", "sed", "find"}, modes: []mode{fp, dwarf, none},
		command: "LC_ALL=C.UTF-8 sort text >sorted; grep -c 'e.*a[bc]' text; sed 's/[aeiou]\\+/<&>/g' text >/dev/null; find /usr/share /usr/lib -name '*.so' >/dev/null"},
	{name: "openssl", needs: []string{"openssl"}, modes: []mode{fp, dwarf}, command: "openssl dgst -sha3-256 text text; openssl genrsa -out key 3072; openssl enc -camellia-256-cbc -pbkdf2 -k x -in text >/dev/null"},
	{name: "convert", needs: []string{"convert"}, modes: []mode{dwarf}, command: "PATH=/usr/bin:$PATH convert -size 500x500 plasma:red-blue -blur 0x4 -rotate 20 png:- >/dev/null"},
	{name: "gfortran", needs: []string{"gfortran"}, modes: []mode{dwarf}, prepare: "gfortran -O2 -g -o matrix matrix.f90", command: "./matrix"},
	{name: "system", needs: []string{"tar", "gzip"}, modes: []mode{fp, none}, system: true, command: "tar -cf - /usr/include | gzip -3 | sha256sum"},
}

// experiment is a program to record with gprofng.
type experiment struct {
	name    string
	needs   []string
	options string // options of `gprofng collect app`
	preload string // library with a faster clock for gprofng; "": none
	prepare string
	command string // the program with its full path, and its arguments
}

// The libraries made from testdata/inputs/hrtick.c: the clock of one is real time, for programs
// that never wait, that of the other is the CPU time of each thread.
const (
	realClock = "libhrtick.so"
	cpuClock  = "libcputick.so"
)

// clocks is the command that builds both libraries.
const clocks = "gcc -O2 -fPIC -shared -DMONO -Wl,--version-script=hrtick.map -o libhrtick.so hrtick.c; " +
	"gcc -O2 -fPIC -shared -DHRTICK_US=10007 -Wl,--version-script=hrtick.map -o libcputick.so hrtick.c"

const (
	clock = "-p hi"
	heap  = "-p off -H on"
	inOut = "-p off -i on"
	waits = "-p off -s on"
)

// experiments are the programs to record with gprofng.
var experiments = []experiment{
	{name: "bzip2", needs: []string{"bzip2"}, options: clock, preload: realClock, command: "$(command -v bzip2) -kf text"},
	{name: "gzip", needs: []string{"gzip"}, options: clock, preload: realClock, command: "$(command -v gzip) -kf text"},
	{name: "xz", needs: []string{"xz"}, options: clock, preload: realClock, command: "$(command -v xz) -2 -kf text"},
	{name: "sqlite3", needs: []string{"sqlite3"}, options: clock, preload: realClock, command: "$(command -v sqlite3) :memory: '.read words.sql'"},
	{name: "perl", needs: []string{"perl"}, options: clock, preload: realClock, command: "$(command -v perl) words.pl text"},
	{name: "python3", needs: []string{"python3"}, options: clock, preload: realClock, command: "$(python3 -c 'import sys; print(sys.executable)') words.py"},
	{name: "cc1", needs: []string{"gcc"}, options: clock, preload: realClock, prepare: "gcc -E large.c -o large.i", command: "$(gcc -print-prog-name=cc1) -fpreprocessed -quiet -O1 large.i -o large.s"},
	{name: "lua", needs: []string{"lua5.4"}, options: clock, preload: realClock, command: "$(command -v lua5.4) words.lua"},
	{name: "mawk", needs: []string{"mawk"}, options: clock, preload: realClock, command: "$(command -v mawk) -f words.awk text text"},
	{name: "exceptions", needs: []string{"g++"}, options: clock, preload: realClock, prepare: "g++ -O2 -g -gdwarf-4 -o exceptions4 exceptions.cpp", command: "./exceptions4"},
	{name: "threads", needs: []string{"gcc"}, options: "-p on", preload: cpuClock, prepare: "gcc -O1 -g -gdwarf-4 -pthread -o threads4 threads.c", command: "./threads4"},
	{name: "signals", needs: []string{"gcc"}, options: clock, preload: realClock, prepare: "gcc -O1 -g -gdwarf-4 -o signals4 signals.c", command: "./signals4"},
	{name: "openmp", needs: []string{"gcc"}, options: "-p on", preload: cpuClock, prepare: "gcc -O2 -g -gdwarf-4 -fopenmp -o openmp4 openmp.c -lm", command: "./openmp4"},
	{name: "gfortran", needs: []string{"gfortran"}, options: clock, preload: realClock, prepare: "gfortran -O2 -g -gdwarf-4 -o matrix4 matrix.f90", command: "./matrix4"},
	{name: "lua-heap", needs: []string{"lua5.4"}, options: heap, command: "$(command -v lua5.4) words.lua"},
	{name: "sqlite3-heap", needs: []string{"sqlite3"}, options: heap, command: "$(command -v sqlite3) :memory: '.read words.sql'"},
	{name: "exceptions-heap", needs: []string{"g++"}, options: heap, prepare: "g++ -O2 -g -gdwarf-4 -o exceptions4 exceptions.cpp", command: "./exceptions4"},
	{name: "sort-io", needs: []string{"sort"}, options: inOut, command: "$(command -v sort) -S 1M -o sorted text"},
	{name: "sqlite3-io", needs: []string{"sqlite3"}, options: inOut, command: "$(command -v sqlite3) words.db '.read words.sql'"},
	{name: "threads-sync", needs: []string{"gcc"}, options: waits, prepare: "gcc -O1 -g -gdwarf-4 -pthread -o threads4 threads.c", command: "./threads4"},
	{name: "xz-all", needs: []string{"xz"}, options: "-p on -H on -i on -s on", preload: cpuClock, command: "$(command -v xz) -T2 -1 -kf text"},
}
