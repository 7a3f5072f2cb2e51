package storedir

import (
	"bytes"
	"testing"
	"time"

	"stackmill/schema"
)

// Whatever a commit file holds: one that is taken is written as it was read, and
// no byte of it can be another one.
func FuzzDecode(f *testing.F) {
	c := Commit{Batch: "0123456789abcdef", StoreVersion: schema.StoreVersion, Experiments: []Entry{{ExperimentID: "0123456789abcdef", Generation: 1, Experiment: "a.er", Path: "/a.er", Status: "complete"}},
		Ingested: time.Unix(1e9, 0).UTC(), Files: []File{{Table: "samples", Path: "tables/samples/a.parquet", Rows: 1, Bytes: 2, Checksum: noChecksum}}}
	data, err := c.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint(20), byte(1))
	f.Add([]byte(`{"batch":"0123456789abcdef","store_version":"1"}`), uint(3), byte(2))
	f.Add([]byte{}, uint(0), byte(3))
	f.Fuzz(func(t *testing.T, data []byte, at uint, change byte) {
		c, err := Decode("0123456789abcdef", data)
		if err != nil || c.Checksum == "" {
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if other, err := Decode(c.Batch, again); err != nil || other.Checksum == "" {
			t.Errorf("%v\n%s", err, again)
		}
		damaged := bytes.Clone(data)
		if damaged[at%uint(len(data))] ^= change; change != 0 {
			if other, err := Decode("0123456789abcdef", damaged); err == nil && other.Checksum != "" {
				t.Errorf("byte %d is another, and nothing is said", at%uint(len(data)))
			}
		}
	})
}
