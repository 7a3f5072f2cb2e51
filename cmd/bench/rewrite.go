package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// openRecording opens a recording. head is what precedes its records, and data the records.
func openRecording(path string) (f *os.File, head []byte, data *io.SectionReader, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, nil, nil, err
	}
	head = make([]byte, dataSize+8)
	if _, err = f.ReadAt(head, 0); err == nil {
		start, size := binary.LittleEndian.Uint64(head[dataOffset:]), binary.LittleEndian.Uint64(head[dataSize:])
		head = make([]byte, start)
		_, err = f.ReadAt(head, 0)
		data = io.NewSectionReader(f, int64(start), int64(size))
	}
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, head, data, nil
}

// shorten writes the first n samples of a recording, as if perf had been stopped when it had
// written them from its buffers.
func shorten(from, to string, n int) error {
	return rewrite(from, to, func(_ []byte, in iter.Seq[perfRecord], emit func([]byte)) error {
		for r := range in {
			if r.isSample() {
				if n == 0 {
					continue
				}
				n--
			}
			emit(r)
			if n == 0 && r.kind() == recordFinishedRound {
				break
			}
		}
		return nil
	})
}

// rewrite writes a new recording. The function records gets the head and the records of another
// recording, and emits those of the new one. The new file is moved to its path when it is complete.
func rewrite(from, to string, records func(head []byte, in iter.Seq[perfRecord], emit func([]byte)) error) error {
	f, head, data, err := openRecording(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, at, old := data.Outer()
	rest := make([]byte, info.Size()-at-old) // the features, after the records
	if _, err := f.ReadAt(rest, at+old); err != nil {
		return err
	}
	part := to + ".part"
	out, err := os.Create(part)
	if err != nil {
		return err
	}
	w, size := bufio.NewWriter(out), uint64(0) // w keeps an error for Flush
	w.Write(head)
	err = records(head, perfRecords(data), func(r []byte) {
		w.Write(r)
		size += uint64(len(r))
	})
	forgetTimes(head, rest, uint64(at+old)) // the new recording has another first and last sample
	moveFeatures(head, rest, size-uint64(old))
	w.Write(rest)
	binary.LittleEndian.PutUint64(head[dataSize:], size)
	err = errors.Join(err, w.Flush())
	_, werr := out.WriteAt(head, 0)
	if err := errors.Join(err, werr, out.Close()); err != nil {
		return err
	}
	return os.Rename(part, to)
}
