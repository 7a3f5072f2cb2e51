package main

import (
	"os/exec"
	"path/filepath"
)

// The recordings of call chains and of stack dumps of small programs, and how many
// samples they have.
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

// chains returns the path of the recording of call chains, which it makes, and the
// folder of its load objects.
func chains(dir string) (path, symfs string, err error) {
	files, err := perfFiles(dir)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, chainsFile)
	return path, filepath.Join(files, "symfs"), prolong(filepath.Join(files, "perf", "p_cxx_fp.data"), path, perfSamples, 0)
}

// stackDumps compares the unwinding of a small program's stack dumps with perf's own.
func (b *bench) stackDumps() error {
	path, symfs, err := dumps(b.dir)
	if err != nil {
		return err
	}
	return b.hold(contest{work: "dwarf, a small program", path: path, samples: dumpSamples, flags: []string{"--symfs", symfs},
		peer: dumpReport(path, "--symfs", symfs), ratio: 0.5})
}

// dumps returns the path of the recording of stack dumps, which it makes, and the
// folder of its load objects.
func dumps(dir string) (path, symfs string, err error) {
	files, err := perfFiles(dir)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, dumpsFile)
	return path, filepath.Join(files, "symfs"), prolong(filepath.Join(files, "perf", "p_recur_dwarf.data"), path, dumpSamples, dumpBytes)
}

// compiler compares the unwinding of the stack dumps of a real program with perf's.
func (b *bench) compiler() error {
	const work = "dwarf, a compiler"
	path, samples, err := compilation(b.dir)
	if skip, err := b.unrecorded(work, err); skip {
		return err
	}
	return b.hold(contest{work: work, path: path, samples: samples, peer: dumpReport(path), ratio: 0.15, bytes: 80})
}

// distinctStacks compares the reading of chains that are mostly distinct with perf's.
func (b *bench) distinctStacks() error { return b.goBuild(&largePackage, 20) }

// manyProcesses does the same for a recording of hundreds of processes.
func (b *bench) manyProcesses() error { return b.goBuild(&manyPackages, 0) }

func (b *bench) goBuild(g *goBuild, bytes float64) error {
	in, err := g.recording(b.dir)
	if skip, err := b.unrecorded(g.name, err); skip {
		return err
	}
	return b.hold(contest{work: g.name, path: in.path, samples: in.samples, peer: chainReport(in.path), ratio: 0.5, bytes: bytes})
}

// chainReport is perf's list of functions with their callees, of recorded chains.
func chainReport(path string, options ...string) contender {
	return report("perf report --children -g none", path, append(options, "--children", "-g", "none"))
}

// dumpReport is perf's list of functions, of stacks that it unwinds.
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
