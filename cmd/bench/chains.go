package main

import (
	"os/exec"
	"path/filepath"
)

// The recordings of call chains and of stack dumps, each of a small program, and their numbers of
// samples.
const (
	chainsFile, perfSamples = "chains.data", 200_000
	dumpsFile, dumpSamples  = "dumps.data", 24_000
	dumpBytes               = 8192
)

// callChains compares how fast stackmill and perf read frame pointer chains, in a
// recording of a small program whose few stacks repeat.
func (b *bench) callChains() error {
	path, symfs, err := chains(b.dir)
	if err != nil {
		return err
	}
	return b.hold(contest{work: "perf fp, repeating stacks", path: path, samples: perfSamples, flags: []string{"--symfs", symfs},
		peer: chainReport(path, "--symfs", symfs), ratio: 0.4})
}

// chains makes the recording of call chains, and returns its path and the folder of its load
// objects.
func chains(dir string) (path, symfs string, err error) {
	files, err := perfFiles(dir)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, chainsFile)
	return path, filepath.Join(files, "symfs"), prolong(filepath.Join(files, "perf", "p_cxx_fp.data"), path, perfSamples, 0)
}

// stackDumps compares how fast stackmill and perf unwind the stack dumps of a small program.
func (b *bench) stackDumps() error {
	path, symfs, err := dumps(b.dir)
	if err != nil {
		return err
	}
	return b.hold(contest{work: "dwarf, a small program", path: path, samples: dumpSamples, flags: []string{"--symfs", symfs},
		peer: dumpReport(path, "--symfs", symfs), ratio: 0.5})
}

// dumps makes the recording of stack dumps, and returns its path and the folder of its load
// objects.
func dumps(dir string) (path, symfs string, err error) {
	files, err := perfFiles(dir)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, dumpsFile)
	return path, filepath.Join(files, "symfs"), prolong(filepath.Join(files, "perf", "p_recur_dwarf.data"), path, dumpSamples, dumpBytes)
}

// compiler compares how fast stackmill and perf unwind the stack dumps of a large program, a
// compiler.
func (b *bench) compiler() error {
	const work = "dwarf, a compiler"
	path, samples, err := compilation(b.dir)
	if skip, err := b.unrecorded(work, err); skip {
		return err
	}
	return b.hold(contest{work: work, path: path, samples: samples, peer: dumpReport(path), ratio: 0.15, bytes: 80})
}

// distinctStacks compares how fast stackmill and perf read call chains that are mostly distinct.
func (b *bench) distinctStacks() error { return b.goBuild(&largePackage, 20) }

// manyProcesses is distinctStacks for a recording of hundreds of processes.
func (b *bench) manyProcesses() error { return b.goBuild(&manyPackages, 0) }

func (b *bench) goBuild(g *goBuild, bytes float64) error {
	in, err := g.recording(b.dir)
	if skip, err := b.unrecorded(g.name, err); skip {
		return err
	}
	return b.hold(contest{work: g.name, path: in.path, samples: in.samples, peer: chainReport(in.path), ratio: 0.5, bytes: bytes})
}

// chainReport is perf's report of functions with their callees, made from recorded call chains.
func chainReport(path string, options ...string) contender {
	return report("perf report --children -g none", path, append(options, "--children", "-g", "none"))
}

// dumpReport is perf's report of functions, made by unwinding stack dumps.
func dumpReport(path string, options ...string) contender {
	return report("perf report --no-inline", path, append(options, "--no-inline"))
}

func report(name, path string, options []string) contender {
	c := contender{name: name}
	if perf, err := exec.LookPath("perf"); err == nil {
		c.args = append([]string{perf, "report", "--stdio", "-i", path}, options...)
	}
	return c
}
