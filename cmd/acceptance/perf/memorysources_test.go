package perf

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries"
)

// Memory sources have the names that `perf mem report` prints. Virtual machines record none, so the
// test writes all of them into the samples of a recording.
func TestMemorySources(t *testing.T) {
	const unavailable = 0x1e05080021
	sources := []struct {
		word uint64
		want string
	}{
		{0x68100142, "load L1 hit None L1 or L2 hit No N/A"},
		{0x68100442 | 1<<33, "load L2 hit None L1 or L2 hit No N/A"},
		{0x68800842 | 3<<33, "load L3 hit HitM L1 or L2 hit No N/A"},
		{2 | 1<<7 | 1<<11 | 1<<22 | 1<<25 | 1<<28 | 1<<31, "load L3 miss Miss Walker miss Yes N/A"},
		{2 | 1<<6 | 1<<14 | 1<<20 | 1<<26 | 1<<24, "load Remote RAM (2 hops) hit None N/A N/A N/A"},
		{4 | 1<<6 | 1<<8 | 1<<19 | 1<<26 | 1<<41, "store L1 hit N/A N/A No Data"},
		{2 | 1<<5 | 1<<38 | 11<<33 | 1<<37 | 1<<43 | 1<<26 | 1<<42, "load Remote core, same node Any cache  Fwd N/A No Addr"},
		{2 | 1<<5 | 13<<33 | 1<<39 | 1<<26, "load RAM  Peer N/A No N/A"},
		{2 | 1<<6 | 1<<12 | 1<<16 | 9<<33, "load Local RAM or Remote Cache (2 hops) hit N/A N/A No N/A"},
		{1, "N/A N/A  N/A N/A No N/A"},
		{unavailable, ""},
	}
	whole, err := os.ReadFile(filepath.Join(folder, "perf", "p_data.data"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	data, length := le.Uint64(whole[40:]), le.Uint64(whole[48:])
	counts, n := map[string]int64{}, 0
	for at := data; at < data+length; at += uint64(le.Uint16(whole[at+6:])) {
		if le.Uint32(whole[at:]) == 9 { // the field is the last one of a sample
			s := &sources[n%len(sources)]
			le.PutUint64(whole[at+uint64(le.Uint16(whole[at+6:]))-8:], s.word)
			counts[s.want]++
			n++
		}
	}
	delete(counts, "")
	temp := t.TempDir()
	path := filepath.Join(temp, "p_data.data")
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest(filepath.Join(temp, "store"), path); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), filepath.Join(temp, "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT concat_ws(' ', operation, level, hit, snoop, tlb, locked, blocked), samples FROM memory_sources
		WHERE mode = 'expert' AND metric = 'page-faults:u.samples'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]int64{}
	for rows.Next() {
		var name string
		var samples int64
		if err := rows.Scan(&name, &samples); err != nil {
			t.Fatal(err)
		}
		got[name] = samples
	}
	if d := cmp.Diff(counts, got); d != "" || len(got) != len(sources)-1 {
		t.Error(d)
	}
}
