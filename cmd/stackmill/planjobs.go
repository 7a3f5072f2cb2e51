package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stackmill/internal/exit"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// checkClaim checks --image and --claim, which Kubernetes needs: all of its tasks must see all
// files at the same paths.
func (p *planner) checkClaim() error {
	if p.image == "" && p.claim == "" {
		if p.scheduler == plan.Kubernetes {
			return exit.Usagef("%s: --submit k8s: it needs --image and --claim", p.verb)
		}
		return nil
	}
	name, mount, ok := strings.Cut(p.claim, ":")
	if p.image == "" || !ok || name == "" || !filepath.IsAbs(mount) {
		return exit.Usagef("%s: Kubernetes needs --image IMAGE and --claim NAME:MOUNT, with an absolute path MOUNT", p.verb)
	}
	for _, path := range []string{p.output, p.store} {
		if storedir.IsCache(path) { // the store is on S3: tasks need no volume to reach it
			continue
		}
		if rel, err := filepath.Rel(mount, plan.Absolute(path)); err != nil || !filepath.IsLocal(rel) {
			return exit.Usagef("%s: --claim: %s is not below %s: tasks would not see it", p.verb, plan.Absolute(path), mount)
		}
	}
	return nil
}

// writeJobs writes the job files, unless there is nothing to do, and returns the commands that
// submit them.
func (p *planner) writeJobs() (submit map[string]plan.Command, err error) {
	if len(p.header.Chunks) == 0 {
		return nil, nil
	}
	path := plan.Absolute(p.output)
	j := plan.Jobs{Plan: &p.header, Path: path, Program: []string{p.program}, Parallel: p.parallel, Log: strings.ReplaceAll(path, "%", "%%") + ".%a.log", Image: p.image}
	j.Claim, j.Mount, _ = strings.Cut(p.claim, ":")
	if p.program == "" {
		if j.Program[0], err = plan.TaskProgram(); err != nil {
			return nil, err
		}
	}
	return j.WriteFiles()
}

// submit runs the command of the chosen scheduler; without one, it prints the commands.
func (p *planner) submit(ctx context.Context, commands map[string]plan.Command) error {
	if len(commands) == 0 {
		return nil
	}
	if p.scheduler != "" { // commands contains the scheduler: checkClaim refuses k8s without --image
		out, err := commands[p.scheduler].Run(ctx)
		if err != nil {
			return fmt.Errorf("--submit: %w (the plan is written)", err)
		}
		return p.Printf("%s\n", out)
	}
	w := p.Page()
	w.Printf("submit it: %s\n", commands[plan.Slurm])
	if c := commands[plan.Kubernetes]; c != nil {
		w.Printf("or: %s\n", c)
	}
	return w.Flush()
}
