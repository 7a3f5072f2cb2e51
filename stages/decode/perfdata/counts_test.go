package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/stages/decode"
)

// Damaged counts are missing and reported, and the others are as recorded.
func TestDamagedCounts(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(wallData, "stat_interval.data"))
	if err != nil {
		t.Fatal(err)
	}
	const body = recordHeader
	for _, test := range []struct {
		name   string
		damage func(b []byte, stats, rounds []int) []byte // offsets of the records
		rows   int
		counts string // value, enabled and running time of the third interval's first count
		reason string
	}{
		{"whole", func(b []byte, _, _ []int) []byte { return b }, 14, "-1 0 29764 29764 29764 true", ""},
		{"value falls", func(b []byte, stats, _ []int) []byte {
			binary.LittleEndian.PutUint64(b[stats[4]+body+16:], 1)
			return b
		}, 14, "-1 0 0 0 0 false", "falling-count 1"},
		{"huge value", func(b []byte, stats, _ []int) []byte {
			binary.LittleEndian.PutUint64(b[stats[4]+body+16:], 1<<60)
			return b
		}, 14, "-1 0 0 0 0 false", "falling-count 2"},
		{"unknown event", func(b []byte, stats, _ []int) []byte {
			binary.LittleEndian.PutUint64(b[stats[4]+body:], 1)
			return b
		}, 14, "-1 -1 0 0 0 false", "unknown-event 1"},
		{"unknown thread, some CPU", func(b []byte, stats, _ []int) []byte {
			binary.LittleEndian.PutUint32(b[stats[4]+body+8:], 5)
			binary.LittleEndian.PutUint32(b[stats[4]+body+12:], 1<<31)
			return b
		}, 14, "5 -1 29764 29764 29764 true", ""},
		{"short record", func(b []byte, stats, _ []int) []byte {
			binary.LittleEndian.PutUint32(b[stats[4]:], recordStatRound)
			return b
		}, 14, "-1 -1 0 0 0 false", "odd-record 1"},
		{"an end before the start", func(b []byte, _, rounds []int) []byte {
			binary.LittleEndian.PutUint64(b[rounds[2]+body+8:], 0)
			return b
		}, 14, "-1 0 29764 29764 29764 true", "bad-interval 1"},
		{"no last end", func(b []byte, _, rounds []int) []byte {
			binary.LittleEndian.PutUint32(b[rounds[6]:], recordFinishedRound)
			return b
		}, 12, "-1 0 29764 29764 29764 true", "no-interval 2"},
		{"no end", func(b []byte, _, rounds []int) []byte {
			for _, at := range rounds {
				binary.LittleEndian.PutUint32(b[at:], recordFinishedRound)
			}
			return b
		}, 0, "", "no-interval 2"},
	} {
		b := slices.Clone(whole)
		start := int(binary.LittleEndian.Uint64(b[40:]))
		end := start + int(binary.LittleEndian.Uint64(b[48:]))
		at := map[uint32][]int{}
		for i := start; i < end; i += int(binary.LittleEndian.Uint16(b[i+6:])) {
			typ := binary.LittleEndian.Uint32(b[i:])
			at[typ] = append(at[typ], i)
		}
		path := filepath.Join(t.TempDir(), "perf.data")
		if err := os.WriteFile(path, test.damage(b, at[recordStat], at[recordStatRound]), 0o600); err != nil {
			t.Fatal(err)
		}
		rec := New().Open(t.Context(), path)
		var rows []decode.Count
		if rec.Counts != nil {
			if err := rec.Counts(func(c *decode.Count) error { rows = append(rows, *c); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		counts, reason := "", ""
		if len(rows) > 4 {
			c := &rows[4]
			counts = fmt.Sprint(c.CPU, min(c.ThreadID, 0), c.Value, c.EnabledNS, c.RunningNS, c.Counted)
		}
		for i := range rows {
			if rows[i].UntilNS < rows[i].FromNS {
				t.Errorf("%s: interval %d ends before it starts", test.name, rows[i].Interval)
			}
		}
		for _, p := range rec.Problems.Problems {
			reason = fmt.Sprint(p.Reason, " ", p.Count)
		}
		if len(rows) != test.rows || counts != test.counts || reason != test.reason {
			t.Errorf("%s: %d rows, %q, problem %q; want %d, %q, %q", test.name, len(rows), counts, reason, test.rows, test.counts, test.reason)
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}
}
