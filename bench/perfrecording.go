package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stackmill/acceptance/corpus"
)

// perfFiles returns the folder with perf's recordings and their load objects,
// which it unpacks when it is not there.
func perfFiles(dir string) (string, error) {
	path := filepath.Join(dir, "perf")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	part := filepath.Join(dir, "unfinished.perf")
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o777), corpus.Perf(part)); err != nil {
		return "", err
	}
	return path, os.Rename(part, path)
}

// Where things stand in a perf.data file (perf-data 1, 4, 6).
const (
	attrsOffset  = 24
	dataOffset   = 40
	dataSize     = 48
	featureBits  = 72
	attrType     = 24 // in the attr
	recordSample = 9
	sampleTime   = 1 << 2
	beforeTime   = 1<<16 | 1<<0 | 1<<1 // IDENTIFIER, IP, TID
)

// prolong writes a recording whose samples are those of another one, again and
// again, each time later, until there are n of them.
func prolong(from, to string, n int) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	u64 := func(at uint64) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	sampleType := u64(u64(attrsOffset) + attrType)
	if sampleType&sampleTime == 0 {
		return fmt.Errorf("%s: its samples have no time", from)
	}
	timeAt := 8
	for bits := sampleType & beforeTime; bits != 0; bits &= bits - 1 {
		timeAt += 8
	}
	end := u64(dataOffset) + u64(dataSize)
	var samples [][]byte
	first, last := ^uint64(0), uint64(0)
	for at := u64(dataOffset); at < end; {
		size := uint64(binary.LittleEndian.Uint16(b[at+6:]))
		if binary.LittleEndian.Uint32(b[at:]) == recordSample {
			s := b[at : at+size]
			t := binary.LittleEndian.Uint64(s[timeAt:])
			samples, first, last = append(samples, s), min(first, t), max(last, t)
		}
		at += size
	}
	if len(samples) == 0 {
		return fmt.Errorf("%s: no samples", from)
	}
	more := uint64(0)
	for i := len(samples); i < n; i++ {
		more += uint64(len(samples[i%len(samples)]))
	}
	binary.LittleEndian.PutUint64(b[dataSize:], u64(dataSize)+more)
	index := end // of the features, which stand behind the data
	for at := featureBits; at < featureBits+32; at++ {
		for bits := b[at]; bits != 0; bits &= bits - 1 {
			binary.LittleEndian.PutUint64(b[index:], u64(index)+more)
			index += 16
		}
	}

	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // its errors are those of Flush
	w.Write(b[:end])
	for i := len(samples); i < n; i++ {
		s := slices.Clone(samples[i%len(samples)])
		t := s[timeAt:]
		binary.LittleEndian.PutUint64(t, binary.LittleEndian.Uint64(t)+uint64(i/len(samples))*(last-first+1))
		w.Write(s)
	}
	w.Write(b[end:])
	return errors.Join(w.Flush(), f.Close())
}
