package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// goBuild describes a recording of the Go compiler. The compiler has frame pointers; most samples
// have different stacks, of some fifteen frames.
type goBuild struct {
	name   string
	file   string // name of the recording, without suffixes
	hz     string
	rounds int    // how often script runs
	before string // shell script that runs first and is not recorded; $0 is the program go
	script string // shell script that is recorded; $i is the number of the round
}

// Compiling the same large package again and again gives a quarter million samples per round, of
// one process each. Building all packages runs some hundreds of processes, and hardly two samples
// have the same stack.
var (
	largePackage = goBuild{
		name: "perf fp, distinct stacks", file: "package", hz: "12000", rounds: largest,
		before: `"$0" build -o /dev/null cmd/compile/internal/ssa`,
		script: `"$0" build -gcflags=cmd/compile/internal/ssa=-D=/$i -o /dev/null cmd/compile/internal/ssa`, // another flag each time: the build cache has no result
	}
	manyPackages = goBuild{
		name: "perf fp, hundreds of processes", file: "build", hz: "12000", rounds: 1,
		script: `"$0" build -a -o /dev/null net/http`,
	}
)

const (
	// lengthened is how many times as long as the input the recording input.long is.
	lengthened = 4
	// largest is how many times as long as the input the recording input.large is, with some 1.8
	// million samples.
	largest = 7
)

// input is a recording and the number of its samples. long and large are longer recordings of the
// same work.
type input struct {
	name        string
	path        string
	samples     int
	long, large *input
}

// recording returns the recording of the first round, with the longer ones as long and large. It
// makes recordings that are missing; perf must be permitted for that.
func (g *goBuild) recording(dir string) (*input, error) {
	file := g.file
	if g.rounds > 1 {
		file = fmt.Sprintf("%s-%d", g.file, g.rounds)
	}
	path, err := made(filepath.Join(dir, file+".data"), g.record)
	if err != nil {
		return nil, err
	}
	all := &input{name: g.name, path: path}
	if all.samples, err = countSamples(all.path); err != nil || g.rounds == 1 {
		return all, err
	}
	each := all.samples / g.rounds
	long := &input{name: g.name, path: filepath.Join(dir, g.file+"-long.data"), samples: lengthened * each}
	first := &input{name: g.name, path: filepath.Join(dir, g.file+"-first.data"), samples: each, long: long, large: all}
	return first, errors.Join(first.shortened(all), long.shortened(all))
}

// shortened makes the recording `in` from the first samples of the recording `all`, unless it was
// made since.
func (in *input) shortened(all *input) error {
	made, err := os.Stat(in.path)
	of, err2 := os.Stat(all.path)
	if err == nil && err2 == nil && made.ModTime().After(of.ModTime()) {
		return nil
	}
	return shorten(all.path, in.path, in.samples)
}

// record records the builds with perf. They have their own build cache.
func (g *goBuild) record(path string) error {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("%w: there is no go", errUnrecorded)
	}
	temp := filepath.Dir(path)
	shell := func(script string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", script, compiler)
		cmd.Dir = temp
		cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(temp, "cache"), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
		return cmd
	}
	if out, err := shell(g.before).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s: %w: %s", errUnrecorded, g.before, err, out)
	}
	all := fmt.Sprintf("for i in $(seq %d); do %s || exit 1; done", g.rounds, g.script)
	return record(path, []string{"-F", g.hz, "-g", "-m", "2048"}, shell(all))
}
