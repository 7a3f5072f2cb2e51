package acceptance

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/pipeline"
	"stackmill/queries"
)

// If one value in a real recording is impossible, only that value is lost: it is reported, and sums
// contain all other events.
func TestValuesOutOfBounds(t *testing.T) {
	const first = 100 // number of the packet that is damaged
	for _, tt := range []struct {
		experiment, file string
		typ              uint16
		offset, width    int
		value            uint64
		where            int // offset of the field that decides whether the metric counts the packet; 0: it always does
		metric           string
		other            []string // metrics that must not change
		lost             func(packet []byte) int64
	}{
		{"recur.er", "profile", 8, 48, 4, 2e9 - 1, 0, "totalcpu", nil, oneTick},
		{"recur.er", "profile", 8, 28, 8, 1 << 60, 0, "totalcpu", nil, nothing},
		{"recur.er", "profile", 8, 28, 8, 0, 0, "totalcpu", nil, nothing},
		{"heap.er", "heaptrace", 5, 56, 8, 1 << 63, 64, "heapallocbytes", []string{"heapalloccnt"}, size(56)},
		{"heap.er", "heaptrace", 5, 56, 8, 1 << 50, 64, "heapallocbytes", []string{"heapalloccnt"}, size(56)},
		{"io.er", "iotrace", 19, 56, 8, 1 << 63, 0, "iowritebytes", []string{"iowritecnt", "ioreadbytes"}, size(56)},
		{"io.er", "iotrace", 19, 56, 8, 1 << 61, 0, "iowritebytes", []string{"iowritecnt", "ioreadbytes"}, size(56)},
		{"io.er", "iotrace", 19, 64, 8, 1, 0, "iowritetime", []string{"iowritecnt", "iowritebytes"}, duration(64)},
		{"sync.er", "synctrace", 2, 48, 8, 1 << 62, 0, "sync", []string{"syncn"}, duration(48)},
		{"sync.er", "synctrace", 2, 32, 8, 1 << 62, 0, "sync", []string{"syncn"}, duration(48)},
	} {
		t.Run(tt.file+tt.metric, func(t *testing.T) {
			t.Parallel()
			from := filepath.Join(recordings, "exp", tt.experiment)
			temp := t.TempDir()
			to := filepath.Join(temp, tt.experiment)
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(filepath.Join(to, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			at := nthPacket(t, content, tt.typ, min(first, 20), func(packet []byte) bool {
				return (tt.where == 0 || binary.LittleEndian.Uint64(packet[tt.where:]) != 0) && (tt.typ != 19 || packet[48] == 1) && (tt.typ != 5 || packet[48] == 0)
			})
			lost := tt.lost(content[at:])
			if tt.width == 4 {
				binary.LittleEndian.PutUint32(content[at+tt.offset:], uint32(tt.value))
			} else {
				binary.LittleEndian.PutUint64(content[at+tt.offset:], tt.value)
			}
			if err := os.WriteFile(filepath.Join(to, tt.file), content, 0o644); err != nil {
				t.Fatal(err)
			}
			store := filepath.Join(temp, "store")
			results, err := ingest(store, temp, to)
			if err != nil || results[0].Status != pipeline.Partial {
				t.Fatal(results, err)
			}
			told := 0
			for _, p := range results[0].Problems {
				if p.Reason == "value-out-of-bounds" && p.File == tt.file && p.Offset == int64(at) && p.Count == 1 {
					told++
				}
			}
			if told != 1 {
				t.Errorf("not told at %d: %v", at, results[0].Problems)
			}
			db, err := queries.Open(context.Background(), store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			const total = `SELECT sum(inclusive) FROM function_metrics WHERE function = '<Total>' AND mode = 'user' AND experiment = ? AND metric = ?`
			if got, want := number(t, db.DB, total, tt.experiment, tt.metric), number(t, shared.DB, total, tt.experiment, tt.metric)-lost; got != want {
				t.Errorf("<Total> has %d of %s, want %d", got, tt.metric, want)
			}
			for _, metric := range tt.other {
				if got, want := number(t, db.DB, total, tt.experiment, metric), number(t, shared.DB, total, tt.experiment, metric); got != want {
					t.Errorf("<Total> has %d of %s, want %d", got, metric, want)
				}
			}
			for _, question := range []string{
				"SELECT duration_ns FROM experiments WHERE experiment = ?", "SELECT count(*) FROM samples JOIN experiment_names USING (experiment_id) WHERE experiment = ?",
			} {
				if got, want := number(t, db.DB, question, tt.experiment), number(t, shared.DB, question, tt.experiment); got != want {
					t.Errorf("%s: %d, want %d", question, got, want)
				}
			}
			if n := number(t, db.DB, "SELECT count(*) FROM conservation"); n != 0 {
				t.Errorf("%d sums are broken", n)
			}
		})
	}
}

// These functions return what the packet added to the metric before it was damaged.
func oneTick([]byte) int64 { return 997_000 }
func nothing([]byte) int64 { return 0 }

func size(offset int) func([]byte) int64 {
	return func(packet []byte) int64 { return int64(binary.LittleEndian.Uint64(packet[offset:])) }
}

// duration returns the time from a request to the packet, in whole microseconds.
func duration(offset int) func([]byte) int64 {
	return func(packet []byte) int64 {
		ns := binary.LittleEndian.Uint64(packet[32:]) - binary.LittleEndian.Uint64(packet[offset:])
		return int64(ns / 1000 * 1000)
	}
}

// nthPacket finds a packet of a type in an event file (gprofng-experiment 3.1).
func nthPacket(t *testing.T, content []byte, typ uint16, n int, wanted func(packet []byte) bool) int {
	for at := 0; at+4 <= len(content); {
		size := int(binary.LittleEndian.Uint16(content[at:]))
		if size == 0 {
			at += 16384 - at%16384
			continue
		}
		if binary.LittleEndian.Uint16(content[at+2:]) == typ && wanted(content[at:]) {
			if n--; n == 0 {
				return at
			}
		}
		at += size
	}
	t.Fatal("no such packet")
	return 0
}
