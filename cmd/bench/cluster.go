package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	clusterTasks      = 4
	clusterEfficiency = 0.95 // minimum of: CPU time of one task that does all, divided by that of several tasks at once
)

// cluster measures the tasks of a plan: their CPU time when several run at once, the time that a
// task needs to start, and the operations on the shared file system per experiment.
func (b *bench) cluster() error {
	dir, err := filepath.Abs(b.dir)
	if err != nil {
		return err
	}
	c := &cluster{bench: b, root: filepath.Join(dir, fmt.Sprintf("scale-%d", b.experiments)), store: filepath.Join(dir, "store"), plan: filepath.Join(dir, "cluster.plan")}
	if err := many(b.dir, c.root, 0, b.experiments, nightSize); err != nil {
		return err
	}
	if _, err := c.tasks(1, false, nil); err != nil { // fills the cache
		return err
	}
	var one, turns, beside, again []time.Duration
	for range b.rounds {
		for _, m := range []struct {
			tasks int
			once  bool
			times *[]time.Duration
		}{{1, false, &one}, {clusterTasks, false, &turns}, {clusterTasks, true, &beside}} {
			cpu, err := c.tasks(m.tasks, m.once, nil)
			if err != nil {
				return err
			}
			*m.times = append(*m.times, cpu)
		}
		r, err := measure(c.task(0)[0], c.task(0)[1:]...)
		if err != nil {
			return err
		}
		again = append(again, r.CPU)
	}
	each := func(times []time.Duration) float64 { return median(times).Seconds() * 1e3 / float64(b.experiments) }
	b.figures.add(figure{work: fmt.Sprintf("CPU of an experiment, one task for all %d", b.experiments), value: each(one), unit: "ms"})
	b.figures.add(figure{work: fmt.Sprintf("CPU of an experiment, %d tasks", clusterTasks), value: each(turns), unit: "ms"})
	b.figures.add(figure{work: fmt.Sprintf("efficiency of %d tasks at once", clusterTasks), against: "one task for all",
		value: median(one).Seconds() / median(beside).Seconds(), target: clusterEfficiency, atLeast: true})
	b.figures.add(figure{work: "CPU of a task that finds all done", value: median(again).Seconds() * 1e3, unit: "ms"})
	b.costs.cpu, b.costs.start = median(one)/time.Duration(b.experiments), max(0, (median(turns)-median(one))/(clusterTasks-1))
	return errors.Join(c.operations(), os.RemoveAll(c.store), os.Remove(c.plan), os.Remove(c.plan+".slurm"))
}

// cluster runs the tasks of plans, all for the same experiments.
type cluster struct {
	*bench
	root, store, plan string
}

// task returns the command line of a task, which reads one recording at a time.
func (c *cluster) task(chunk int) []string {
	return []string{c.program, "ingest", "--plan", c.plan, "--chunk", fmt.Sprint(chunk), "--jobs", "1", "--cache", c.cache()}
}

// tasks makes a plan of n tasks and runs them into a new store, at the same time if once is set,
// otherwise one after the other. It returns their CPU time. tracer, if given, returns words to put
// before a task's command line.
func (c *cluster) tasks(n int, once bool, tracer func(chunk int) []string) (cpu time.Duration, err error) {
	if err := errors.Join(os.RemoveAll(c.store), os.RemoveAll(c.plan), os.RemoveAll(c.plan+".slurm")); err != nil {
		return 0, err
	}
	out, err := exec.Command(c.program, "plan", "--store", c.store, "--recursive", "--chunks", fmt.Sprint(n), "-o", c.plan, c.root).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("plan: %w\n%s", err, out)
	}
	took, errs := make([]run, n), make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		words := c.task(i)
		if tracer != nil {
			words = append(tracer(i), words...)
		}
		one := func() { took[i], errs[i] = measure(words[0], words[1:]...) }
		if once {
			running.Go(one)
		} else {
			one()
		}
	}
	running.Wait()
	for _, r := range took {
		cpu += r.CPU
	}
	return cpu, errors.Join(errs...)
}

// shared are the system calls that need an answer from the server of a network file system; fstat
// and close do not. Those from read on are about content.
var shared = []string{"openat", "newfstatat", "statx", "faccessat", "faccessat2", "getdents64", "mkdirat", "renameat", "renameat2", "linkat", "unlinkat", "fsync", "fdatasync",
	"flock", "read", "pread64", "write", "pwrite64", "copy_file_range"}

// operations counts the system calls of tasks on files of the store and on recordings.
func (c *cluster) operations() error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		c.figures.skip("operations on the store for an experiment", err)
		return nil
	}
	trace := func(chunk int) string { return filepath.Join(c.dir, fmt.Sprintf("cluster-%d.trace", chunk)) }
	var one float64 // operations on commits per batch, if there is one task
	for _, n := range []int{1, clusterTasks} {
		_, err := c.tasks(n, false, func(chunk int) []string {
			return []string{strace, "-f", "-qq", "--seccomp-bpf", "-y", "-s", "0", "-e", "trace=?" + strings.Join(shared, ",?"), "-o", trace(chunk)}
		})
		if err != nil {
			return err
		}
		var store, inputs, commits int
		for i := range n {
			s, err := count(trace(i), c.store+"/")
			in, inErr := count(trace(i), c.root+"/")
			old, oldErr := count(trace(i), c.store+"/commits/")
			if err := errors.Join(err, inErr, oldErr, os.Remove(trace(i))); err != nil {
				return err
			}
			store, inputs, commits = store+s, inputs+in, commits+old
		}
		per := func(what string, calls int) {
			c.figures.add(figure{work: what + " for an experiment", against: fmt.Sprintf("%d tasks", n), value: float64(calls) / float64(c.experiments)})
		}
		per("operations on recordings", inputs)
		per("operations on the store without its commits", store-commits)
		per("operations on its commits", commits)
		if err := c.sizes(inputs, store-commits, commits); err != nil {
			return err
		}
		c.figures.add(figure{work: "operations on its commits for a batch", against: fmt.Sprintf("%d tasks", n), value: c.costs.commit, target: one})
		one = c.costs.commit
	}
	return nil
}

// sizes sets the costs that the simulation needs, from what the last tasks have done.
func (c *cluster) sizes(onRecordings, onStore, onCommits int) error {
	commits := filepath.Join(c.store, "commits")
	batches, err := os.ReadDir(commits)
	recordings, rerr := size(c.root)
	entries, eerr := size(commits)
	tables, terr := tableSizes(c.store)
	if err := errors.Join(err, rerr, eerr, terr); err != nil {
		return err
	}
	n := int64(c.experiments)
	c.costs.questions, c.costs.batch, c.costs.commit = float64(onRecordings)/float64(n), float64(onStore)/float64(len(batches)), float64(onCommits)/float64(len(batches))
	c.costs.read, c.costs.written, c.costs.entry = recordings/n, tables.total()/n, entries/n
	return nil
}

// count counts the system calls in a trace that are on files below a folder.
func count(trace, below string) (n int, err error) {
	f, err := os.Open(trace)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); strings.Contains(line, below) && !strings.Contains(line, " resumed>") {
			n++
		}
	}
	return n, lines.Err()
}
