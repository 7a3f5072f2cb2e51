package main

import (
	"os/exec"
	"slices"
	"strings"
)

// build is a program that is compiled and recorded in one way.
type build struct {
	name     string
	compiler string
	steps    string // shell commands that run in the build's folder; $S is the folder of the sources
	chains   string // how stacks are recorded: dwarf, fp or none

	noLines    bool // the code has no line table
	noCalls    bool // debug information lacks some inlined calls, and the lines of the others
	noParams   bool // names in the truth have no parameters
	bare       bool // names of inlined functions have no scopes
	noNames    bool // static functions have no names
	wrappers   bool // the truth does not have functions that the compiler made
	unwindless bool // the code has no call frame information
}

// program is a test program. It is compiled in many ways.
type program struct {
	name     string
	sources  string
	language string // a key of commands; "": C
	first    string // shell commands that run before it is compiled
	flags    string
	link     string
	only     string // the only compilers that can build it; "": all can
	flavors  []flavor
	change   func(*build)
}

// flavor is a way to compile and record a program.
type flavor struct {
	compiler, flags, link string
	post                  string // shell commands that run after it is compiled
	chains                string
	change                func(*build)
}

func noLines(b *build)      { b.noLines = true }
func noParameters(b *build) { b.noParams = true }
func bare(b *build)         { b.bare = true }

const (
	separate = `objcopy --only-keep-debug prog prog.debug; strip prog; objcopy --add-gnu-debuglink=prog.debug prog`
	stripped = `strip prog`
)

// flavors are common ways to compile programs in C and C++.
var flavors = []flavor{
	{"gcc", "-O0 -g", "", "", "dwarf", nil},
	{"gcc", "-O1 -g", "", "", "dwarf", nil},
	{"gcc", "-O2 -g", "", "", "dwarf", nil},
	{"gcc", "-O3 -g", "", "", "dwarf", nil},
	{"gcc", "-Os -g", "", "", "dwarf", nil},
	{"gcc", "-O0 -g", "", "", "fp", nil},
	{"gcc", "-O2 -g -fno-omit-frame-pointer", "", "", "fp", nil},
	{"gcc", "-O2 -g", "", "", "fp", nil},
	{"gcc", "-O2 -g", "", "", "none", nil},
	{"gcc", "-O2 -g1", "", "", "dwarf", nil},
	{"gcc", "-O2 -gdwarf-4", "", "", "dwarf", nil},
	{"gcc", "-O2 -gdwarf-3", "", "", "dwarf", nil},
	{"gcc", "-O2 -gdwarf-2", "", "", "dwarf", nil},
	{"gcc", "-O2 -gdwarf-2 -gstrict-dwarf", "", "", "dwarf", func(b *build) { b.noCalls = true }},
	{"gcc", "-O2 -g -gsplit-dwarf", "", "", "dwarf", nil},
	{"gcc", "-O2 -gdwarf-4 -gsplit-dwarf", "", "dwp -e prog -o prog.dwp && rm -f *.dwo", "dwarf", nil},
	{"gcc", "-O2 -g -gz", "", "", "dwarf", nil},
	{"gcc", "-O2", "", "", "dwarf", noLines},
	{"gcc", "-O2", "", stripped, "dwarf", func(b *build) { b.noLines, b.noNames = true, true }},
	{"gcc", "-O2 -g", "", separate, "dwarf", nil},
	{"gcc", "-O2 -g", "", "cp prog other; dwz -m common prog other", "dwarf", nil},
	{"gcc", "-O2 -g -flto", "", "", "dwarf", nil},
	{"gcc", "-O2 -g -flto -fno-omit-frame-pointer", "", "", "fp", nil},
	{"gcc", "-O2 -g", "-static", "", "dwarf", nil},
	{"gcc", "-O2 -g -fno-omit-frame-pointer", "-static", "", "fp", nil},
	{"gcc", "-O2 -g", "-static-pie", "", "dwarf", nil},
	{"gcc", "-O2 -g -fno-pie", "-no-pie", "", "dwarf", nil},
	{"gcc", "-O2 -g -fcf-protection=full", "-Wl,-z,now", "", "dwarf", nil},
	{"gcc", "-O2 -g -ffunction-sections -fdata-sections", "-Wl,--gc-sections", "", "dwarf", nil},
	{"gcc", "-O2 -g", "-fuse-ld=gold", "", "dwarf", nil},
	{"gcc", "-O2 -g", "-fuse-ld=mold", "", "dwarf", nil},
	{"gcc", "-O2 -g", "-fuse-ld=lld", "", "dwarf", nil},
	{"gcc", "-O2 -g -freorder-blocks-and-partition -fno-plt", "", "", "dwarf", nil},
	{"gcc", "-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer", "", "", "dwarf", func(b *build) { b.unwindless = true }},
	{"clang", "-O0 -g", "", "", "dwarf", nil},
	{"clang", "-O1 -g", "", "", "dwarf", nil},
	{"clang", "-O2 -g", "", "", "dwarf", nil},
	{"clang", "-O2 -g -fno-omit-frame-pointer", "", "", "fp", nil},
	{"clang", "-O2 -g", "", "", "fp", nil},
	{"clang", "-O3 -gdwarf-5", "-fuse-ld=lld", "", "dwarf", nil},
	{"clang", "-Os -g1", "", "", "dwarf", nil},
	{"clang", "-O2 -g -gsplit-dwarf", "", "", "dwarf", nil},
	{"clang", "-O2 -g -flto", "-fuse-ld=lld", "", "dwarf", nil},
	{"clang", "-O2 -g -flto=thin", "-fuse-ld=lld", "", "dwarf", nil},
	{"clang", "-O2 -g -fno-omit-frame-pointer", "-static", "", "fp", nil},
	{"clang", "-O2", "", "", "dwarf", noLines},
}

// some are fewer flavors, for programs that are special in other respects than how they are
// compiled.
var some = []flavor{
	{"gcc", "-O0 -g", "", "", "dwarf", nil},
	{"gcc", "-O0 -g", "", "", "fp", nil},
	{"gcc", "-O2 -g", "", "", "dwarf", nil},
	{"gcc", "-O2 -g -fno-omit-frame-pointer", "", "", "fp", nil},
	{"gcc", "-O2 -g", "", "", "fp", nil},
	{"gcc", "-O3 -g -flto", "", "", "dwarf", nil},
	{"gcc", "-O2", "", stripped, "dwarf", func(b *build) { b.noLines, b.noNames = true, true }},
	{"clang", "-O0 -g", "", "", "fp", nil},
	{"clang", "-O2 -g", "", "", "dwarf", nil},
	{"clang", "-O2 -g -fno-omit-frame-pointer", "", "", "fp", nil},
	{"clang", "-O2 -g -flto", "-fuse-ld=lld", "", "dwarf", nil},
}

// static is a flavor for programs without shared libraries.
var static = flavor{"gcc", "-O2 -g -fno-omit-frame-pointer", "-static", "", "fp", nil}

var programs = slices.Concat(compiledC, languages)

// compiledC are the programs in C and C++.
var compiledC = []program{
	{name: "calls", sources: "$S/calls.c $S/calls_other.c", flavors: flavors},
	{name: "calls_cpp", sources: "-x c++ $S/calls.c $S/calls_other.c -x none", language: "cpp", flags: "-Wno-deprecated", change: noParameters, flavors: []flavor{
		{"gcc", "-O2 -g", "", "", "dwarf", nil},
		{"gcc", "-O2 -g -flto", "", "", "dwarf", nil},
		{"clang", "-O2 -g", "", "", "dwarf", nil},
		{"clang", "-O2 -g -flto", "-fuse-ld=lld", "", "dwarf", nil},
		{"clang", "-O2 -g -flto=thin", "-fuse-ld=lld", "", "dwarf", nil},
	}},
	{name: "control", sources: "$S/control.c", flavors: append(slices.Clone(some), static)},
	{name: "threads", sources: "$S/threads.c", link: "-pthread", flavors: append(slices.Clone(some), static)},
	{name: "linked", sources: "$S/linked.c", link: "-rdynamic -L. -Wl,-rpath,$PWD -lshared -ldl", flavors: some,
		first: "gcc -shared -fPIC -O2 -g -fno-omit-frame-pointer $S/library.c -o libshared.so\n" +
			"gcc -shared -fPIC -O1 -g -fno-omit-frame-pointer $S/plugin.c -o plugin.so"},
	{name: "classes", sources: "$S/classes.cpp", language: "cpp", flavors: append(slices.Clone(some), static)},
	{name: "regions", sources: "$S/regions.c", link: "-fopenmp", flavors: some},
	{name: "coroutine", sources: "$S/coroutine.cpp", language: "cpp", only: "gcc", flavors: some, flags: "-std=c++20"},
}

// commands are the shell commands that compile a program, by language.
var commands = map[string]string{
	"":     "{compiler} {flags} {sources} ../truth.o -o prog {link}",
	"cpp":  "{compiler++} {flags} {sources} ../truth.o -o prog {link}",
	"rust": "rustc --edition 2021 --crate-name prog {flags} -C link-arg=$PWD/../truth.o {sources} -o prog",
	"ada":  "gnatmake -q {flags} {sources} -o prog -largs ../truth.o {link}",
	"d":    "ldc2 -g {flags} {sources} ../truth.o -of=prog",
	"go":   "GOFLAGS= GO111MODULE=off go build {flags} -o prog {sources}",
}

// buildList returns all builds.
func buildList() (list []*build) {
	for _, p := range programs {
		for _, f := range p.flavors {
			if p.only != "" && !strings.Contains(p.only, f.compiler) {
				continue
			}
			b := &build{compiler: f.compiler, chains: f.chains}
			b.name = buildName(p.name, f.compiler, f.flags, f.link, f.post, f.chains)
			command := commands[p.language]
			if strings.Contains(f.flags, "-gsplit-dwarf") {
				// If one command compiled and linked, it would name the .dwo files after the
				// program.
				command = "for s in {sources}; do {compiler} {flags} -c $s; done\n" + strings.Replace(command, "{sources}", "*.o", 1)
			}
			command = strings.NewReplacer("{compiler++}", strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(f.compiler), "{compiler}", f.compiler,
				"{flags}", f.flags+" "+p.flags, "{link}", f.link+" "+p.link, "{sources}", p.sources).Replace(command)
			b.steps = p.first + "\n" + command + "\n" + f.post
			b.wrappers = p.language == "go"
			for _, change := range []func(*build){p.change, f.change} {
				if change != nil {
					change(b)
				}
			}
			list = append(list, b)
		}
	}
	return list
}

// available returns an error if this machine lacks a compiler or linker that the build needs.
func (b *build) available() error {
	_, err := exec.LookPath(b.compiler)
	for _, linker := range []string{"gold", "mold", "lld"} {
		if err == nil && strings.Contains(b.steps, "-fuse-ld="+linker) {
			_, err = exec.LookPath("ld." + linker)
		}
	}
	return err
}

// buildName joins words to the name of a folder.
func buildName(words ...string) string {
	var parts []string
	for _, w := range words {
		for f := range strings.FieldsSeq(w) {
			parts = append(parts, strings.Trim(f, "-;"))
		}
	}
	if len(parts) > 9 {
		parts = append(parts[:8], parts[len(parts)-1])
	}
	return strings.NewReplacer("/", "-", "=", "-", ",", "-", "*", "", "'", "").Replace(strings.Join(parts, "_"))
}
