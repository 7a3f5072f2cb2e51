package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownHz is perf's sampling rate: samples per second of CPU time.
const ownHz = "1999"

// profileSource is a recording whose ingest is recorded for the profile.
type profileSource struct {
	path  string
	flags []string // flags of ingest
	times int      // how often to ingest it, so that all recordings have about the same share of the profile
}

// profile writes the profile for the optimization of stackmill by Go's compiler (PGO). perf records
// stackmill while it ingests the benchmark's recordings, and stackmill itself converts what perf
// recorded.
func (b *bench) profile(to string) error {
	list, err := b.toProfile()
	if err != nil {
		return err
	}
	own := filepath.Join(b.dir, "own")
	if err := os.RemoveAll(own); err != nil {
		return err
	}
	if err := os.Mkdir(own, 0o777); err != nil {
		return err
	}
	unix.Sync()
	for i, in := range list {
		c := b.ingest("", in.path, in.flags...)
		again := fmt.Sprintf(`for i in $(seq %d); do rm -rf "$0" && "$@" || exit; done`, in.times)
		args := append([]string{"record", "-q", "-F", ownHz, "-e", "task-clock:u", "-g", "-o", filepath.Join(own, strconv.Itoa(i)+".data"), "--", "sh", "-c", again, b.store()}, c.args...)
		if err := command("perf", args...); err != nil {
			return err
		}
	}
	store := filepath.Join(own, "store")
	if err := command(b.program, "ingest", "--store", store, "--cache", b.cache(), own); err != nil {
		return err
	}
	return command(b.program, "export", "--store", store, "--as", "pgo", "-o", to)
}

// toProfile returns the recordings to ingest, and makes those that are missing.
func (b *bench) toProfile() ([]profileSource, error) {
	heap, err := lists(b.dir)
	if err != nil {
		return nil, err
	}
	server, err := recording(b.dir, b.records)
	if err != nil {
		return nil, err
	}
	repeating, symfs, err := chains(b.dir)
	if err != nil {
		return nil, err
	}
	dumped, _, err := dumps(b.dir)
	if err != nil {
		return nil, err
	}
	compiler, _, err := compilation(b.dir)
	if err != nil {
		return nil, err
	}
	distinct, err := largePackage.recording(b.dir)
	if err != nil {
		return nil, err
	}
	processes, err := manyPackages.recording(b.dir)
	if err != nil {
		return nil, err
	}
	symbols := []string{"--symfs", symfs}
	return []profileSource{
		{heap, nil, 2}, {server, nil, 1}, {repeating, symbols, 12}, {dumped, symbols, 20}, {compiler, nil, 3},
		{distinct.path, nil, 2}, {processes.path, nil, 1},
	}, nil
}

// command runs a command, which may print errors.
func command(name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
