package perf

import (
	"context"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/pipeline"
	"stackmill/queries"
)

// Samples of a precise event are at their exact addresses, wherever the interrupt arrived: here in
// the recorded function, in another one, or in the kernel. Virtual machines cannot record such
// events, so the test rewrites others.
func TestExactAddresses(t *testing.T) {
	arrivals := map[string][]uint64{
		"next to it":          nil,
		"in another function": {markUser, 0x401000},
		"in the kernel":       {^uint64(0) - 127, 0xffffffff81000000, 0xffffffff81000010, markUser, 0x401000},
	}
	for _, name := range []string{"p_recur_fp", "p_cxx_fp"} {
		whole, err := os.ReadFile(filepath.Join(folder, "perf", name+".data"))
		if err != nil {
			t.Fatal(err)
		}
		want := rowsOf(t, shared, name+".data")
		if len(want) < 5 {
			t.Fatal("no functions", want)
		}
		for arrival, words := range arrivals {
			t.Run(name+" "+arrival, func(t *testing.T) {
				temp := t.TempDir()
				path := filepath.Join(temp, name+".data")
				if err := os.WriteFile(path, makePrecise(t, whole, words), 0o644); err != nil {
					t.Fatal(err)
				}
				results, err := ingest(filepath.Join(temp, "store"), path)
				if err != nil || len(results) != 1 || results[0].Status != pipeline.Complete {
					t.Fatal(results, err)
				}
				db, err := queries.Open(context.Background(), filepath.Join(temp, "store"))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				if d := cmp.Diff(want, rowsOf(t, db, name+".data")); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// makePrecise marks all samples in user code as exact, and begins their chains where the interrupt
// arrived: with the given words, or one byte after the exact address.
func makePrecise(t *testing.T, file []byte, arrival []uint64) []byte {
	const exact, user = 1 << 14, 2
	le := binary.LittleEndian
	attrs, data, length := le.Uint64(file[24:]), le.Uint64(file[40:]), le.Uint64(file[48:])
	sampleType := le.Uint64(file[attrs+24:])
	out := slices.Clone(file[:data])
	le.PutUint64(out[attrs+40:], le.Uint64(out[attrs+40:])|2<<15)
	ipAt := 8 + 8*bits.OnesCount64(sampleType&(1<<16))
	chainAt := 8 + 8*bits.OnesCount64(sampleType&(1<<16|1<<0|1<<1|1<<2|1<<3|1<<6|1<<9|1<<7|1<<8))
	changed := 0
	for at := data; at < data+length; {
		n := uint64(le.Uint16(file[at+6:]))
		record := file[at : at+n]
		at += n
		misc := le.Uint16(record[4:])
		if le.Uint32(record) != 9 || misc&7 != user || le.Uint64(record[chainAt:]) < 2 {
			out = append(out, record...)
			continue
		}
		begin := arrival
		if begin == nil {
			begin = []uint64{markUser, le.Uint64(record[ipAt:]) + 1}
		}
		changed++
		head := slices.Clone(record[:chainAt])
		le.PutUint16(head[4:], misc|exact)
		le.PutUint16(head[6:], uint16(int(n)+8*(len(begin)-2)))
		out = le.AppendUint64(append(out, head...), le.Uint64(record[chainAt:])+uint64(len(begin)-2))
		for _, word := range begin {
			out = le.AppendUint64(out, word)
		}
		out = append(out, record[chainAt+24:]...)
	}
	if changed == 0 {
		t.Fatal("no sample was changed")
	}
	grown := uint64(len(out)) - (data + length)
	le.PutUint64(out[48:], length+grown)
	return append(out, movedIndex(file, data+length, grown)...)
}

// movedIndex returns the part of a file after the data, with its features moved by a number of
// bytes.
func movedIndex(file []byte, end, by uint64) []byte {
	le := binary.LittleEndian
	rest := slices.Clone(file[end:])
	features := 0
	for i := range 4 {
		features += bits.OnesCount64(le.Uint64(file[72+8*i:]))
	}
	for i := range features {
		le.PutUint64(rest[16*i:], le.Uint64(rest[16*i:])+by)
	}
	return rest
}
