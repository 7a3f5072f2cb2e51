package queries

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// TestSizesOfFailedCalls has calls that failed, with a negative size and without one.
func TestSizesOfFailedCalls(t *testing.T) {
	db := open(t, storetest.New(t, `batch 01 x.er /x.er
experiments experiment format
  x.er gprofng
metrics metric unit kind
  ioerrorcnt count io
  ioreadcnt count io
  ioreadbytes bytes io
samples sample kind thread_id
  1 io 1
  2 io 1
  3 io 1
  4 io 1
io_samples sample operation fd bytes metric_ns
  1 0 3 4 1000
  2 5 3 -1 1000
  3 9 3 0 1000
  4 0 3 0 1000
`))
	for question, want := range map[string][]string{
		"SELECT metric, size_range, above, upto, value, samples FROM size_metrics WHERE mode = 'user' ORDER BY ALL": {
			"ioerrorcnt 0 Bytes -1 0 1 1", "ioerrorcnt <Unknown> <nil> <nil> 1 1",
			"ioreadbytes 1 < n <= 4 Bytes 1 4 4 1",
			"ioreadcnt 0 Bytes -1 0 1 1", "ioreadcnt 1 < n <= 4 Bytes 1 4 1 1",
		},
		"SELECT sample, part, bytes FROM io_calls ORDER BY ALL":     {"1 read 4", "2 error 0", "3 error 0", "4 read 0"},
		"SELECT part, calls, bytes FROM io_statistics ORDER BY ALL": {"error 2 0", "read 2 4"},
	} {
		if diff := cmp.Diff(want, rows(t, db.DB, question)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", question, diff)
		}
	}
}
