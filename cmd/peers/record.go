package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed testdata/inputs
var inputs embed.FS

// recorder makes recordings in a folder.
type recorder struct {
	work     string // folder for inputs and recordings
	prepared map[string]bool
}

// newRecorder writes the input files of the programs into the folder.
func newRecorder(ctx context.Context, work string) (*recorder, error) {
	r := &recorder{work, map[string]bool{}}
	sub, err := fs.Sub(inputs, "testdata/inputs")
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(r.inputs()); err != nil {
		return nil, err
	}
	if err := os.CopyFS(r.inputs(), sub); err != nil {
		return nil, err
	}
	return r, r.shell(ctx, "sh prepare.sh")
}

func (r *recorder) inputs() string { return filepath.Join(r.work, "inputs") }

// missing returns those of the commands that this machine does not have.
func missing(needs ...string) (list []string) {
	for _, n := range needs {
		if _, err := exec.LookPath(n); err != nil {
			list = append(list, n)
		}
	}
	return list
}

// hint returns text that says how to install commands.
func hint(commands []string) string {
	var names []string
	for _, c := range commands {
		if p := packages[c]; p != "" {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("no %s: apt-get install %s", strings.Join(commands, ", "), strings.Join(slices.Compact(names), " "))
}

// perf records a program with perf.
func (r *recorder) perf(ctx context.Context, p program, m mode, file string) error {
	if err := r.prepare(ctx, p.prepare); err != nil {
		return err
	}
	args := append([]string{"record", "-N", "-q", "-o", file, "-e", "cpu-clock"}, strings.Fields(m.options)...)
	if p.system {
		args = append(args, "-a")
	}
	return r.run(ctx, append(append([]string{"perf"}, args...), "--", "sh", "-c", p.command)...)
}

// gprofng records a program with gprofng.
func (r *recorder) gprofng(ctx context.Context, x experiment, folder string) error {
	for _, script := range []string{clocks, x.prepare} {
		if err := r.prepare(ctx, script); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	preload := ""
	if x.preload != "" {
		preload = "env LD_PRELOAD=" + filepath.Join(r.inputs(), x.preload) + " "
	}
	return r.shell(ctx, preload+"gprofng collect app "+x.options+" -O "+folder+" "+x.command)
}

// prepare runs a script that programs need before they are recorded. It runs each script only once.
func (r *recorder) prepare(ctx context.Context, script string) error {
	if script == "" || r.prepared[script] {
		return nil
	}
	r.prepared[script] = true
	return r.shell(ctx, script)
}

func (r *recorder) shell(ctx context.Context, script string) error {
	return r.run(ctx, "sh", "-c", script)
}

// run runs a command in the folder of inputs. It ignores the exit status of a recorder, which is
// that of the recorded program.
func (r *recorder) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = r.inputs()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && args[0] != "sh" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
