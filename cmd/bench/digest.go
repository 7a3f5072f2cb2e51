package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"stackmill/cmd/acceptance/nights"
	"stackmill/schema"
)

// Maximum time and memory of a digest of 200 programs with 60 nights of 7 runs each.
const (
	digestTime   = 5000 // ms
	digestMemory = 1024 // MiB
)

// digests measures `digest` on a store of 84,000 experiments, as on a morning after new experiments
// were ingested, so the time includes building the catalog.
func (b *bench) digests() error {
	fleet, err := nights.NewFleet(nights.Benchmarks(1))
	if err != nil {
		return err
	}
	store, err := b.nightsStore(fleet)
	if err != nil {
		return err
	}
	c := []contender{{args: []string{b.program, "digest", "--store", store}, remove: []string{filepath.Join(store, "stackmill.duckdb")}}}
	if err := takeTurns(b.rounds, c); err != nil {
		return err
	}
	b.figures.add(figure{work: "digest of 84,000 experiments", value: milliseconds(c[0].runs.elapsed()), unit: "ms", target: digestTime})
	b.figures.add(figure{work: "memory of this digest", value: float64(c[0].runs.memory()) / (1 << 20), unit: "MiB", target: digestMemory})
	return nil
}

// nightsStore returns a store of a fleet's experiments. It makes the store if it is missing, which
// takes minutes.
func (b *bench) nightsStore(fleet *nights.Fleet) (store string, err error) {
	store = filepath.Join(b.dir, "nights-"+schema.StoreVersion)
	if _, err := os.Stat(store); !errors.Is(err, fs.ErrNotExist) {
		return store, err
	}
	return store, whole(store, func(part string) error {
		profiles := filepath.Join(b.dir, "nights-profiles")
		defer os.RemoveAll(profiles)
		for night := range fleet.Nights {
			folder, err := fleet.WriteNight(profiles, night)
			if err != nil {
				return err
			}
			_, err = measure(b.program, "ingest", "--store", part, "--cache", b.cache(), "--recursive", "--label-from", nights.PathLabels, folder)
			if err != nil {
				return err
			}
			if err := os.RemoveAll(folder); err != nil {
				return err
			}
			if night%7 == 6 || night == fleet.Nights-1 {
				if _, err := measure(b.program, "compact", "--store", part, "--keep", "0"); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
