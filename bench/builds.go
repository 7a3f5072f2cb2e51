package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// The recording of builds: the Go compiler has frame pointers, and nearly every
// sample a stack of its own, of some fifteen frames in hundreds of processes. The
// whole has buildRounds times the same build; the first of them is what everything
// else is measured with.
const (
	buildsFile  = "builds.data"
	buildFile   = "build.data"
	buildRounds = 4
	buildHz     = "12000" // for 300,000 samples of a build
	builtGo     = "net/http"
)

// input is a recording and how many samples it has; whole is one that is like it and
// buildRounds times as long.
type input struct {
	name    string
	path    string
	samples int
	whole   *input
}

// builds returns the recording of one build, and of several. It makes them when
// they are not there, for which perf must be permitted.
func builds(dir string) (*input, error) {
	one := &input{name: "perf fp, distinct stacks", path: filepath.Join(dir, buildFile)}
	all := &input{name: one.name, path: filepath.Join(dir, buildsFile)}
	one.whole = all
	if _, err := os.Stat(all.path); errors.Is(err, fs.ErrNotExist) {
		if err := recordBuilds(dir, all.path); err != nil {
			return nil, err
		}
	}
	var err error
	if all.samples, err = countSamples(all.path); err != nil {
		return nil, err
	}
	one.samples = all.samples / buildRounds
	return one, shorten(all.path, one.path, one.samples)
}

// recordBuilds records the same build several times, with an empty cache of its own.
func recordBuilds(dir, path string) error {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("%w: there is no go", errUnrecorded)
	}
	fmt.Println("making", path)
	temp, err := os.MkdirTemp(dir, "unfinished.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if temp, err = filepath.Abs(temp); err != nil {
		return err
	}
	script := fmt.Sprintf(`for i in $(seq %d); do "$0" build -a -o /dev/null %s || exit 1; done`, buildRounds, builtGo)
	cmd := exec.Command("/bin/sh", "-c", script, compiler)
	cmd.Dir = temp
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(temp, "cache"), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	data := filepath.Join(temp, "perf.data")
	if err := record(data, []string{"-F", buildHz, "-g", "-m", "2048"}, cmd); err != nil {
		return err
	}
	return os.Rename(data, path)
}
