package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"stackmill/internal/corpus"
)

// perfFiles returns a folder with recordings of perf and their load objects, and unpacks it if it
// is missing.
func perfFiles(dir string) (string, error) {
	return made(filepath.Join(dir, "perf"), func(part string) error {
		return errors.Join(os.Mkdir(part, 0o777), corpus.Perf(part))
	})
}

// Offsets and bits in a perf.data file (perf-data 1, 4, 6).
const (
	attrsOffset       = 24
	dataOffset        = 40
	dataSize          = 48
	featureBits       = 72
	featureSampleTime = 21 // bit of the feature SAMPLE_TIME
	attrType          = 24 // offset in an attribute, like the next two
	attrRegs          = 80
	attrStack         = 88
	recordSample      = 9
	sampleTime        = 1 << 2
	beforeTime        = 1<<16 | 1<<0 | 1<<1 // fields of samples before the time: IDENTIFIER, IP, TID
	beforeChain       = beforeTime | sampleTime | 1<<3 | 1<<6 | 1<<7 | 1<<8 | 1<<9
	sampleChain       = 1 << 5
	sampleRegs        = 1 << 12
	sampleStack       = 1 << 13
)

// prolong writes a recording with n samples. It repeats the samples of another recording, with
// later times in each repetition. If dump is not 0, stack dumps become dump bytes long; the added
// bytes do not count as valid.
func prolong(from, to string, n, dump int) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	u64 := func(at uint64) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	attr := u64(attrsOffset)
	sampleType, regs := u64(attr+attrType), u64(attr+attrRegs)
	if sampleType&sampleTime == 0 {
		return fmt.Errorf("%s: its samples have no time", from)
	}
	timeAt := 8
	for bits := sampleType & beforeTime; bits != 0; bits &= bits - 1 {
		timeAt += 8
	}
	var side []byte // records that are not samples
	cycle := sampleLoop{timeAt: timeAt, first: ^uint64(0)}
	for r := range perfRecords(bytes.NewReader(b[u64(dataOffset):][:u64(dataSize)])) {
		if r.isSample() {
			cycle.add(widened(slices.Clone(r), sampleType, regs, dump))
		} else {
			side = append(side, r...)
		}
	}
	if len(cycle.samples) == 0 {
		return fmt.Errorf("%s: no samples", from)
	}
	length := uint64(len(side)) + cycle.length(n)
	end, more := u64(dataOffset)+u64(dataSize), length-u64(dataSize)
	binary.LittleEndian.PutUint64(b[dataSize:], length)
	if dump > 0 {
		binary.LittleEndian.PutUint32(b[attr+attrStack:], uint32(dump))
	}
	moveFeatures(b, b[end:], more)

	f, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // keeps an error for Flush
	w.Write(b[:u64(dataOffset)])
	w.Write(side)
	cycle.write(w, n)
	w.Write(b[end:])
	return errors.Join(w.Flush(), f.Close())
}

// sampleLoop repeats samples, with later times in each repetition.
type sampleLoop struct {
	samples     [][]byte
	timeAt      int    // offset of the time in a sample
	first, last uint64 // lowest and highest time of samples
}

func (c *sampleLoop) add(s []byte) {
	t := binary.LittleEndian.Uint64(s[c.timeAt:])
	c.samples, c.first, c.last = append(c.samples, s), min(c.first, t), max(c.last, t)
}

// length returns how many bytes n samples have.
func (c *sampleLoop) length(n int) (length uint64) {
	for i := range n {
		length += uint64(len(c.samples[i%len(c.samples)]))
	}
	return length
}

// write writes n samples. w keeps an error for Flush.
func (c *sampleLoop) write(w *bufio.Writer, n int) {
	for i := range n {
		s := slices.Clone(c.samples[i%len(c.samples)])
		t := s[c.timeAt:]
		binary.LittleEndian.PutUint64(t, binary.LittleEndian.Uint64(t)+uint64(i/len(c.samples))*(c.last-c.first+1))
		w.Write(s)
	}
}

// perfRecord is a record of a perf.data file.
type perfRecord []byte

func (r perfRecord) kind() uint32      { return r.u32(0) }
func (r perfRecord) misc() uint16      { return binary.LittleEndian.Uint16(r[4:]) }
func (r perfRecord) isSample() bool    { return r.kind() == recordSample }
func (r perfRecord) u32(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }

// perfRecords iterates over the complete records of a file. A record is valid only until the next
// one.
func perfRecords(from io.Reader) iter.Seq[perfRecord] {
	return func(yield func(perfRecord) bool) {
		in, b := bufio.NewReaderSize(from, 1<<16), make([]byte, 1<<16)
		for {
			if _, err := io.ReadFull(in, b[:8]); err != nil {
				return
			}
			record := b[:max(binary.LittleEndian.Uint16(b[6:]), 8)]
			if _, err := io.ReadFull(in, record[8:]); err != nil || !yield(record) {
				return
			}
		}
	}
}

// features iterates over the features of a file, by number, with their entries in the index. index
// starts at the index, which follows the data; an entry has the position and length of a feature.
func features(head, index []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for bit := range 256 {
			if head[featureBits+bit/8]>>(bit%8)&1 == 0 {
				continue
			}
			if !yield(bit, index[:16]) {
				return
			}
			index = index[16:]
		}
	}
}

// moveFeatures adds `by` to all positions in the index of features.
func moveFeatures(head, index []byte, by uint64) {
	for _, entry := range features(head, index) {
		binary.LittleEndian.PutUint64(entry, binary.LittleEndian.Uint64(entry)+by)
	}
}

// forgetTimes clears the feature with the times of the first and last sample. rest is the content of
// the file from offset on.
func forgetTimes(head, rest []byte, offset uint64) {
	for bit, entry := range features(head, rest) {
		if bit == featureSampleTime {
			at := binary.LittleEndian.Uint64(entry) - offset
			clear(rest[at:][:binary.LittleEndian.Uint64(entry[8:])])
		}
	}
}

// widened returns a sample whose stack dump is dump bytes long.
func widened(s []byte, sampleType, regs uint64, dump int) []byte {
	if sampleType&sampleStack == 0 {
		return s
	}
	word := func(at int) int { return int(binary.LittleEndian.Uint64(s[at:])) }
	at := 8 + 8*bits.OnesCount64(sampleType&beforeChain)
	if sampleType&sampleChain != 0 {
		at += 8 + 8*word(at)
	}
	if sampleType&sampleRegs != 0 {
		if at += 8; word(at-8) != 0 {
			at += 8 * bits.OnesCount64(regs)
		}
	}
	size := word(at)
	if size == 0 || size > dump {
		return s
	}
	binary.LittleEndian.PutUint64(s[at:], uint64(dump))
	end := at + 8 + size
	wide := slices.Concat(s[:end], make([]byte, dump-size), s[end:])
	binary.LittleEndian.PutUint16(wide[6:], uint16(len(wide)))
	return wide
}
