package gprofng_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// A packet without a type inside a block is skipped by its length, as gprofng does; what
// follows it is read, and it is reported that an event may be lost.
func TestEmptyPackets(t *testing.T) {
	const size, count = 80, 100
	for _, run := range []int{0, 1, 2, 5, 40} {
		e := newExperiment(t)
		e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
		e.Declare(schema.Heap, "")
		stack := e.Frame(0x1010)
		for i := range int64(count) {
			e.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, Time: i, Stack: stack, Values: []int64{0, i, i * 16, 0}})
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(e.Dir, "heaptrace")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range run {
			binary.LittleEndian.PutUint16(b[(10+i)*size+2:], 0)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		rec := open(t, e.Dir)
		if got, _ := events(t, rec.Processes[0], schema.Heap); len(got["size"]) != count-run {
			t.Errorf("%d events of %d, of which %d have no type", len(got["size"]), count, run)
		}
		wantReasons(t, rec, diagnostic.Error)
		var said int64
		for _, p := range rec.Problems.Problems {
			if p.Reason == "empty-packet" && p.Severity == diagnostic.Warning {
				said += p.Count
			}
		}
		if said != int64(run) {
			t.Errorf("%d packets without a type are reported, of %d", said, run)
		}
	}
}

// The log names descendants that are missing.
func TestMissingDescendant(t *testing.T) {
	e := newExperiment(t)
	e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
	for _, lineage := range []string{"_f1", "_f2"} {
		e.Log(`<event kind="desc_start" tstamp="0.1" variant="fork" lineage="%s" follow="1"/>`, lineage)
		e.Log(`<event kind="desc_started" tstamp="0.1" variant="fork" lineage="%s" follow="1" msg="pid=7"/>`, lineage)
	}
	e.Log(`<event kind="desc_started" tstamp="0.1" variant="fork" lineage="_f3" follow="0" msg="pid=8"/>`)
	e.Descendant("_f1", 10)
	wantReasons(t, build(t, e), diagnostic.Warning, "_f2.er:missing-descendant")
}
