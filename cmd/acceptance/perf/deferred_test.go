package perf

import (
	"context"
	"encoding/binary"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/pipeline"
	"stackmill/queries"
)

// A recording with deferred user chains gives the same result as one with the chains in the
// samples: here the same recording, rewritten as kernels since 6.19 write it.
func TestDeferredChains(t *testing.T) {
	for _, name := range []string{"p_recur_fp", "p_traps_kernel", "p_threads_s"} {
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(filepath.Join(folder, "perf", name+".data"))
			if err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			path := filepath.Join(temp, name+".data")
			if err := os.WriteFile(path, deferChains(t, whole), 0o644); err != nil {
				t.Fatal(err)
			}
			store := filepath.Join(temp, "store")
			results, err := ingest(store, path)
			if err != nil || len(results) != 1 || results[0].Status != pipeline.Complete {
				t.Fatal(results, err)
			}
			for _, p := range results[0].Problems {
				if p.Reason == "deferred-chain-missing" || p.Reason == "deferred-chain-unused" || p.Reason == "unknown-record" {
					t.Error(p)
				}
			}
			db, err := queries.Open(context.Background(), store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			want := rowsOf(t, shared, name+".data")
			if len(want) < 5 {
				t.Fatal("no functions", want)
			}
			if d := cmp.Diff(want, rowsOf(t, db, name+".data")); d != "" {
				t.Error(d)
			}
		})
	}
}

type functionRow struct {
	Mode, Metric, Relation, Function, Other string
	Value                                   int64
}

// rowsOf lists the callers and callees of all functions.
func rowsOf(t *testing.T, db *queries.DB, experiment string) (list []functionRow) {
	rows, err := db.Query(`SELECT mode, metric, relation, function, other, attributed FROM callers_callees
		WHERE experiment = ? ORDER BY ALL`, experiment)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r functionRow
		if err := rows.Scan(&r.Mode, &r.Metric, &r.Relation, &r.Function, &r.Other, &r.Value); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

const (
	markUser     = ^uint64(0) - 511
	markDeferred = ^uint64(0) - 639
)

// deferChains moves the user part of each sample's chain into a separate record. Successive samples
// of a thread share equal ones.
func deferChains(t *testing.T, file []byte) []byte {
	le := binary.LittleEndian
	attrs, size := le.Uint64(file[24:]), le.Uint64(file[32:])
	data, length := le.Uint64(file[40:]), le.Uint64(file[48:])
	sampleType := le.Uint64(file[attrs+24:])
	head := slices.Clone(file[:data])
	for at := attrs; at < attrs+size; at += le.Uint64(file[16:]) {
		le.PutUint64(head[at+40:], le.Uint64(head[at+40:])|1<<38|1<<39)
	}
	if sampleType&(1<<4) != 0 {
		t.Fatal("the samples read counters")
	}
	const idTrailer = 1<<1 | 1<<2 | 1<<6 | 1<<9 | 1<<7 | 1<<16
	chainAt := 8 + 8*bits.OnesCount64(sampleType&(1<<16|1<<0|1<<1|1<<2|1<<3|1<<6|1<<9|1<<7|1<<8))
	tidAt := 8 + 8*bits.OnesCount64(sampleType&(1<<16|1<<0))
	cookie, moved := uint64(1<<40), 0
	last := map[uint64][]byte{} // by process and thread, its open chain
	cookies := map[uint64]uint64{}
	var out []byte
	lastTime := uint64(0)
	flush := func(thread, time uint64) {
		chain := last[thread]
		if chain == nil {
			return
		}
		trailer := 8 * bits.OnesCount64(sampleType&idTrailer)
		record := le.AppendUint32(nil, 22)
		record = le.AppendUint16(record, 2)
		record = le.AppendUint16(record, uint16(8+16+len(chain)+trailer))
		record = le.AppendUint64(le.AppendUint64(record, cookies[thread]), uint64(len(chain)/8))
		record = append(record, chain...)
		record = le.AppendUint64(le.AppendUint64(record, thread), time)
		out = append(append(out, record...), make([]byte, trailer-16)...)
		last[thread] = nil
	}
	for at := data; at < data+length; {
		n := uint64(le.Uint16(file[at+6:]))
		record := file[at : at+n]
		at += n
		if le.Uint32(record) != 9 {
			out = append(out, record...)
			continue
		}
		thread, time := le.Uint64(record[tidAt:]), le.Uint64(record[tidAt+8:])
		lastTime = max(lastTime, time)
		words := le.Uint64(record[chainAt:])
		chain := record[chainAt+8 : chainAt+8+int(words)*8]
		rest := record[chainAt+8+int(words)*8:]
		from := len(chain)
		for i := 0; i < len(chain); i += 8 {
			if le.Uint64(chain[i:]) == markUser {
				from = i
			}
		}
		if from == len(chain) {
			out = append(out, record...)
			continue
		}
		if users := chain[from+8:]; !slices.Equal(last[thread], users) {
			flush(thread, time)
			cookie++
			last[thread], cookies[thread] = users, cookie
		}
		moved++
		sample := slices.Clone(record[:chainAt])
		sample = append(le.AppendUint64(sample, uint64(from/8+2)), chain[:from]...)
		sample = le.AppendUint64(le.AppendUint64(sample, markDeferred), cookies[thread])
		sample = append(sample, rest...)
		le.PutUint16(sample[6:], uint16(len(sample)))
		out = append(out, sample...)
	}
	for _, thread := range slices.Sorted(maps.Keys(last)) {
		flush(thread, lastTime)
	}
	if moved < 100 {
		t.Fatalf("only %d chains were moved", moved)
	}
	le.PutUint64(head[48:], uint64(len(out)))
	return slices.Concat(head, out, movedIndex(file, data+length, uint64(len(out))-length))
}
