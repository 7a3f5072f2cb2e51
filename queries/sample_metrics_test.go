package queries

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema"
)

// TestEveryDeclaredMetric has a sample for each condition of the declared metrics. Clock samples
// last 2^n ns, so that a sum shows which samples it has.
func TestEveryDeclaredMetric(t *testing.T) {
	var b strings.Builder
	b.WriteString("batch 01 x.er /x.er\nmetrics metric unit kind\n")
	for _, m := range schema.Declared {
		fmt.Fprintf(&b, " %s %s %s\n", m.Name, m.Unit, m.Kind)
	}
	b.WriteString(" cycles count hwc\nsamples sample kind thread_id\n")
	for state := range 12 { // even states in thread 1
		fmt.Fprintf(&b, " %d clock %d\n", state+1, 1+state%2)
	}
	for s := 13; s <= 16; s++ {
		fmt.Fprintf(&b, " %d clock 2\n", s)
	}
	b.WriteString("clock_samples sample state duration_ns omp_state\n")
	for state := range 12 {
		fmt.Fprintf(&b, " %d %d %d -1\n", state+1, state, 1<<state)
	}
	b.WriteString(` 13 0 4096 0
 14 0 8192 3
 15 6 16384 2
 16 0 32768 1
sync_samples sample metric_ns
 17 5000
 18 0
heap_samples sample operation size address leaked
 19 0 100 4096 60
 20 0 7 0 0
 21 1 0 4096 0
 22 2 50 8192 0
 23 3 4000 65536 4000
 24 4 4000 65536 0
io_samples sample operation bytes metric_ns
 25 0 10 1000
 26 1 0 0
 27 3 0 3000
 28 9 0 4000
hwc_samples sample counter value
 29 cycles 100
 30 cycles 0
 31 unlisted 5
race_samples sample accesses
 32 3
deadlock_samples sample
 33
`)
	want := []string{
		"totalcpu 46087", "total 62463", "user 45057", "system 2", "trap 4", "textpfault 8", "datapfault 16", "kernelpfault 32",
		"lock 16448", "sleep 128", "wait 256", "stop 512", "kcpu 2048", "masterthread 1365",
		"ompwork 4096", "ompwait 24576", "ompovhd 32768", "sync 5000", "syncn 2",
		"heapallocbytes 4150", "heapalloccnt 3", "heapleakbytes 4060", "heapleakcnt 2",
		"ioreadbytes 10", "ioreadcnt 1", "ioreadtime 1000", "iowritecnt 1", "ioothercnt 1", "ioothertime 3000", "ioerrorcnt 1", "ioerrortime 4000",
		"raccess 3", "deadlocks 1", "cycles 100",
	}
	db := open(t, storetest.New(t, b.String()))
	var got []string
	sums := map[string]string{}
	for _, row := range rows(t, db.DB, "SELECT metric, sum(value) FROM sample_metrics GROUP BY ALL") {
		name, _, _ := strings.Cut(row, " ")
		sums[name] = row
	}
	for _, m := range append(schema.Declared[:len(schema.Declared):len(schema.Declared)], schema.Metric{Name: "cycles"}, schema.Metric{Name: "unlisted"}) {
		if row, ok := sums[m.Name]; ok {
			got = append(got, row)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
