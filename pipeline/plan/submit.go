package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"stackmill/internal/atomicfile"
	"stackmill/internal/terminal"
)

// The schedulers to which jobs are submitted.
const (
	Slurm      = "slurm"
	Kubernetes = "k8s"
)

// workerName is the file name of the worker next to the program with all verbs.
const workerName = "stackmill-worker"

// TaskProgram returns the path of the program that tasks run: the worker next to this program, or
// this program.
func TaskProgram() (string, error) {
	this, err := os.Executable()
	if err != nil {
		return "", err
	}
	worker := filepath.Join(filepath.Dir(this), workerName)
	if info, err := os.Stat(worker); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return worker, nil
	}
	return this, nil
}

// Command is the command that submits a job.
type Command []string

// WriteFiles writes the job files next to the plan, and returns the commands that submit them, by
// scheduler: for Slurm and, if there is an image, for Kubernetes.
func (j Jobs) WriteFiles() (map[string]Command, error) {
	path := j.Path + ".slurm"
	if err := atomicfile.Replace(path, j.WriteSlurm); err != nil {
		return nil, err
	}
	submit := map[string]Command{Slurm: {"sbatch", path}}
	if j.Image != "" {
		path, j.Program = j.Path+".k8s.yaml", []string{"stackmill"}
		if err := atomicfile.Replace(path, j.WriteKubernetes); err != nil {
			return nil, err
		}
		submit[Kubernetes] = Command{"kubectl", "apply", "-f", path}
	}
	return submit, nil
}

// Run runs the command and returns its output.
func (c Command) Run(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, c[0], c[1:]...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", c, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// String returns the command as a shell reads it.
func (c Command) String() string {
	words := make([]string, len(c))
	for i, w := range c {
		words[i] = terminal.ShellQuote(w)
	}
	return strings.Join(words, " ")
}
