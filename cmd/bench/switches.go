package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// The recording of switches: of all CPUs, while groups of processes send messages to each other.
const (
	switchesFile, switchSamples = "switches.data", 1_000_000
	// messages is how many messages each process sends. It takes some 1.2 million switches.
	messages = "22000"
)

// switches compares how fast stackmill and perf follow threads through the samples of
// sched_switch, which have call chains. perf needs one command for the stacks and another one for
// the threads' times; stackmill stores both.
func (b *bench) switches() error {
	const work = "a million switches"
	path, err := made(filepath.Join(b.dir, switchesFile), recordSwitches)
	if skip, err := b.unrecorded(work, err); skip {
		return err
	}
	samples, err := countSamples(path)
	if err != nil {
		return err
	}
	if err := b.hold(contest{work: work + ", stacks", path: path, samples: samples, peer: chainReport(path), ratio: 1}); err != nil {
		return err
	}
	summary := contender{name: "perf sched timehist -s"} // reads neither stacks nor fields' texts
	if perf, err := exec.LookPath("perf"); err == nil {
		summary.args = []string{perf, "sched", "timehist", "-s", "-i", path}
	}
	if err := b.hold(contest{work: work, path: path, samples: samples, peer: summary, ratio: 1}); err != nil {
		return err
	}
	const allowed = 1024
	c := b.ingest("", path, "--memory", fmt.Sprint(allowed, "M"))
	if err := c.run(); err != nil {
		return err
	}
	b.figures.add(figure{
		work: "peak resident size, " + work, against: fmt.Sprintf("--memory %dM", allowed),
		value: float64(c.runs.memory() >> 20), unit: "MiB", target: allowed + residentSlack,
	})
	return nil
}

// recordSwitches records all CPUs and keeps the wanted number of samples.
func recordSwitches(path string) error {
	data := filepath.Join(filepath.Dir(path), "perf.data")
	options := []string{"-a", "-g", "-m", "8192"}
	if err := recordEvent("sched:sched_switch", data, options, exec.Command("perf", "bench", "sched", "messaging", "-g", "2", "-l", messages)); err != nil {
		return err
	}
	return shorten(data, path, switchSamples)
}
