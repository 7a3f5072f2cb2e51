package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackmill/acceptance/corpus"
	"stackmill/pipeline"
)

// accessCount is how many accesses to memory are attributed, and accessTime how
// much longer that may take than reading them.
const (
	accessCount = 1_000_000
	accessTime  = time.Second
)

// dataObjects measures what it takes to find the data objects of accesses to
// memory, of the programs with known data as they are usually compiled: in this process, the ingest of
// long recordings of page faults, without that of the same events as if they
// were no accesses. The first round, in which the programs' tables are made,
// does not count.
func dataObjects(dir string, rounds int) error {
	files, err := accessFiles(dir)
	if err != nil {
		return err
	}
	symfs, store := filepath.Join(files, "symfs"), filepath.Join(dir, "store")
	measure := func(recordings string) (time.Duration, error) {
		if err := os.RemoveAll(store); err != nil {
			return 0, err
		}
		before, err := processTime()
		if err != nil {
			return 0, err
		}
		_, err = pipeline.Ingest(context.Background(), pipeline.Options{
			Store: store, Cache: filepath.Join(dir, "cache"), Jobs: 1, Memory: memoryTarget, SymFS: symfs,
		}, filepath.Join(files, recordings))
		if err != nil {
			return 0, err
		}
		after, err := processTime()
		return after - before, err
	}
	var all, more []time.Duration
	for range rounds + 1 {
		without, err := measure("plain")
		if err != nil {
			return err
		}
		with, err := measure("accesses")
		if err != nil {
			return err
		}
		all, more = append(all, with), append(more, with-without)
	}
	middle := func(d []time.Duration) time.Duration {
		d = d[1:]
		slices.Sort(d)
		return d[len(d)/2].Round(time.Millisecond)
	}
	fmt.Printf("\n%s: %d accesses to memory from files to Parquet, in one process: %v, of that for data objects %v, target at most %v: %s\n",
		filepath.Join(files, "accesses"), accessCount, middle(all), middle(more), accessTime, verdict(middle(more) <= accessTime))
	return nil
}

// accessFiles returns the folder with the long recordings, as accesses/ and as
// plain/, which it makes when it is not there, and their programs as symfs/.
func accessFiles(dir string) (string, error) {
	path := filepath.Join(dir, "accesses")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	part := filepath.Join(dir, "unfinished.accesses")
	err := os.RemoveAll(part)
	for _, folder := range []string{"accesses", "plain"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(part, folder), 0o777))
	}
	if err := errors.Join(err, corpus.Data(part)); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(part, "data", "*_O2.data")) // with some 1000 instructions in all
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "watch") }) // not page faults
	for i, f := range found {
		n := accessCount*(i+1)/len(found) - accessCount*i/len(found)
		long, plain := filepath.Join(part, "accesses", filepath.Base(f)), filepath.Join(part, "plain", filepath.Base(f))
		if err := errors.Join(prolong(f, long, n, 0), withoutAccesses(long, plain)); err != nil {
			return "", err
		}
	}
	return path, os.Rename(part, path)
}

// attrConfig is where an attr says which event of its type it is.
const attrConfig = 8

// withoutAccesses copies a recording, whose event becomes a clock.
func withoutAccesses(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	attr := binary.LittleEndian.Uint64(b[attrsOffset:])
	binary.LittleEndian.PutUint64(b[attr+attrConfig:], 0)
	return os.WriteFile(to, b, 0o666)
}
