package main

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
	"stackmill/internal/exit"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// The schedulers to which jobs are submitted.
const (
	slurm      = "slurm"
	kubernetes = "k8s"
)

// checkClaim looks at the flags for Kubernetes, whose tasks must see everything where it is
// here.
func (p *planner) checkClaim() error {
	if p.image == "" && p.claim == "" {
		if p.scheduler == kubernetes {
			return exit.Usagef("%s: --submit k8s: it needs --image and --claim", p.verb)
		}
		return nil
	}
	name, mount, ok := strings.Cut(p.claim, ":")
	if p.image == "" || !ok || name == "" || !filepath.IsAbs(mount) {
		return exit.Usagef("%s: Kubernetes needs --image IMAGE and --claim NAME:MOUNT, with an absolute path MOUNT", p.verb)
	}
	for _, path := range []string{p.output, p.store} {
		if storedir.IsCache(path) { // it needs no volume
			continue
		}
		if rel, err := filepath.Rel(mount, plan.Absolute(path)); err != nil || !filepath.IsLocal(rel) {
			return exit.Usagef("%s: --claim: %s is not below %s: tasks would not see it", p.verb, plan.Absolute(path), mount)
		}
	}
	return nil
}

// workerName is what the worker is called beside the program with all verbs.
const workerName = "stackmill-worker"

// ofTasks returns the path of the program that tasks run: the one that is given, the worker
// beside this program, or this program.
func (p *planner) ofTasks() (string, error) {
	if p.program != "" {
		return p.program, nil
	}
	this, err := os.Executable()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(this), workerName)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return beside, nil
	}
	return this, nil
}

// writeJobs writes the job files next to the plan, unless there is nothing to do, and returns
// the commands that submit them: Slurm's and, if there is one, that of Kubernetes.
func (p *planner) writeJobs() (submit [][]string, err error) {
	if len(p.header.Chunks) == 0 {
		return nil, nil
	}
	path := plan.Absolute(p.output)
	j := plan.Jobs{Plan: &p.header, Path: path, Parallel: p.parallel, Log: strings.ReplaceAll(path, "%", "%%") + ".%a.log"}
	program, err := p.ofTasks()
	if err != nil {
		return nil, err
	}
	j.Program = []string{program}
	if err := atomicfile.Replace(path+".slurm", j.Slurm); err != nil {
		return nil, err
	}
	submit = append(submit, []string{"sbatch", path + ".slurm"})
	if p.image != "" {
		j.Program, j.Image = []string{"stackmill"}, p.image
		j.Claim, j.Mount, _ = strings.Cut(p.claim, ":")
		if err := atomicfile.Replace(path+".k8s.yaml", j.Kubernetes); err != nil {
			return nil, err
		}
		submit = append(submit, []string{"kubectl", "apply", "-f", path + ".k8s.yaml"})
	}
	return submit, nil
}

// submit runs the command of the scheduler that was asked for; without one, it prints them.
func (p *planner) submit(ctx context.Context, commands [][]string) error {
	if p.scheduler == "" {
		for i, before := range []string{"submit it", "or"}[:len(commands)] {
			if err := p.Printf("%s: %s\n", before, shell(commands[i])); err != nil {
				return err
			}
		}
		return nil
	}
	if len(commands) == 0 {
		return nil
	}
	command := commands[0]
	if p.scheduler == kubernetes {
		command = commands[1] // --submit k8s needs --image
	}
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return fmt.Errorf("--submit: %s: %w (the plan is written)", shell(command), err)
	}
	return p.Printf("%s\n", strings.TrimSpace(string(out)))
}

// shell writes a command for a shell.
func shell(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = plan.Quote(w)
	}
	return strings.Join(words, " ")
}
