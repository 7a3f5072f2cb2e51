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

// openRecording opens a recording and returns the bytes before its records, and the records.
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

// shorten writes the beginning of a recording, as it was when perf had written the n-th sample from
// its buffers.
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

// rewrite writes a recording with the records that the function emits, given the header and the
// records of another recording. The file appears when it is complete.
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
	rest := make([]byte, info.Size()-at-old) // the features
	if _, err := f.ReadAt(rest, at+old); err != nil {
		return err
	}
	part := to + ".part"
	out, err := os.Create(part)
	if err != nil {
		return err
	}
	w, size := bufio.NewWriter(out), uint64(0) // Flush returns its errors
	w.Write(head)
	err = records(head, perfRecords(data), func(r []byte) {
		w.Write(r)
		size += uint64(len(r))
	})
	forgetTimes(head, rest, uint64(at+old)) // the first and the last sample have changed
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
