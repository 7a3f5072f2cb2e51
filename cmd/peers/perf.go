package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/pipeline"
	"stackmill/queries"
)

// maxStack is how many frames of a stack perf is told to show at most.
const maxStack = 4096

// comparePerf ingests a perf recording into a fresh store and compares it with perf's output.
func comparePerf(ctx context.Context, file, work string, m mode) (*comparison, error) {
	content, err := ingest(ctx, file, pipeline.Options{Store: filepath.Join(work, "store"), Kallsyms: "/proc/kallsyms", DebugDirs: []string{debugFolder}})
	if err != nil {
		return nil, err
	}
	c := newComparison(content, newFiles(asRecorded), m.unwound())
	perf := func(args ...string) ([]byte, error) {
		args = append([]string{"--buildid-dir", filepath.Join(work, "no-cache")}, args...)
		cmd := exec.CommandContext(ctx, "perf", append(args, "-i", file, "--no-inline", "--no-demangle", "--kallsyms", "/proc/kallsyms")...)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%v: %w: %s", cmd, err, complaints.Bytes())
		}
		return out, err
	}
	limit := "--max-stack=" + strconv.Itoa(maxStack)
	theirs, err := scripted(perf, limit)
	if err != nil {
		return nil, err
	}
	if err := c.samples(theirs); err != nil {
		return nil, err
	}
	c.values()
	reports := [][]string{{"report", "--no-children", limit, "-F", "overhead,sample,period,dso,sym"}}
	if m.chains() {
		reports = append(reports, []string{"report", "--children", limit, "-F", "overhead_children,overhead,sample,period,dso,sym"})
	}
	for _, args := range reports {
		text, err := perf(append(args, "--stdio", "-g", "none")...)
		if err != nil {
			return nil, err
		}
		rows, err := perftext.Report(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c.report(rows)
	}
	return c, nil
}

// scripted returns all samples as `perf script` shows them. If perf discards the call chain of a
// sample, it takes the leaf from a second run without chains.
func scripted(perf func(...string) ([]byte, error), limit string) ([]perftext.Sample, error) {
	fields := "pid,tid,time,event,period,ip,sym,symoff,dso"
	text, err := perf("script", "--ns", limit, "-F", fields)
	if err != nil {
		return nil, err
	}
	samples, err := perftext.Script(bytes.NewReader(text))
	if err != nil || !slices.ContainsFunc(samples, func(s perftext.Sample) bool { return len(s.Chain) == 0 }) {
		return samples, err
	}
	if text, err = perf("script", "--ns", "-G", "-F", fields); err != nil {
		return nil, err
	}
	leaves, err := perftext.Script(bytes.NewReader(text))
	if err == nil && len(leaves) != len(samples) {
		err = fmt.Errorf("perf script lists %d samples, but %d with -G", len(samples), len(leaves))
	}
	if err != nil {
		return nil, err
	}
	if text, err = perf("script", "-D"); err != nil {
		return nil, err
	}
	discarded, err := perftext.Discarded(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for i := range samples {
		if s := &samples[i]; len(s.Chain) == 0 {
			s.Chain, s.Corrupt = leaves[i].Chain, discarded[perftext.Moment{Thread: s.Thread, Time: s.Time}]
		}
	}
	return samples, nil
}

// debugFolder is where Linux distributions put debug files.
const debugFolder = "/usr/lib/debug"

// ingest ingests a recording into a fresh store and returns what the store has of it.
func ingest(ctx context.Context, path string, o pipeline.Options) (*content, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	o.Jobs, o.Memory = 1, 1<<30
	results, err := pipeline.Ingest(ctx, o, path)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
	}
	db, err := queries.Open(ctx, o.Store)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	c, err := load(ctx, db, filepath.Base(path))
	if err == nil {
		c.recorded = info.ModTime()
	}
	return c, err
}
