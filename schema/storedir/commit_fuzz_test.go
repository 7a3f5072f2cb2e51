package storedir

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	fast "github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
)

// A commit file that Decode accepts is encoded to the same bytes, and changing any of its bytes is
// detected.
func FuzzDecode(f *testing.F) {
	c := Commit{Batch: "0123456789abcdef", StoreVersion: schema.StoreVersion, Experiments: []Entry{{ExperimentID: "0123456789abcdef", Generation: 1, Experiment: "a.er", Path: "/a.er", Status: "complete"}},
		Ingested: time.Unix(1e9, 0).UTC(), Files: []File{{Table: "samples", Path: "tables/samples/0123456789abcdef.parquet", Rows: 1, Bytes: 2, Checksum: noChecksum}}}
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
		other, err := Decode(c.Batch, again)
		if err != nil || other.Checksum == "" {
			t.Errorf("%v\n%s", err, again)
		}
		decodedAlike(t, again)
		damaged := bytes.Clone(data)
		if damaged[at%uint(len(data))] ^= change; change != 0 {
			if other, err := Decode("0123456789abcdef", damaged); err == nil && other.Checksum != "" {
				t.Errorf("byte %d is another, and nothing is said", at%uint(len(data)))
			}
		}
	})
}

// decodedAlike checks that both decoders read the same from Encode's output.
func decodedAlike(t *testing.T, data []byte) {
	t.Helper()
	if !checksumMatches(data) {
		t.Errorf("its checksum is not found: %s", data)
	}
	var one, other Commit
	if err := errors.Join(json.Unmarshal(data, &one), fast.Unmarshal(data, &other)); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(one, other); d != "" {
		t.Error(d)
	}
}

// The decoders agree for any content of names and labels, and any fields.
func TestDecodersAgree(t *testing.T) {
	odd := "\x00\x1b\"\\/<&>\u2028\xff\U0001f600é\ufffd checksum\": \"0000000000000000"
	c := Commit{
		Batch: odd, StoreVersion: schema.StoreVersion, Program: odd, Ingested: time.Unix(1e9, 5).UTC(), Replaces: []string{"a", odd},
		Labels:       &Labels{Number: 1 << 40, Experiments: []string{odd}, Set: map[string]string{odd: odd}, Remove: []string{""}},
		LabelChanges: []LabelChange{{Commit: odd, Labels: Labels{Number: -1}}},
		Experiments: []Entry{
			{},
			{ExperimentID: odd, Generation: -7, Path: odd, Was: odd, Unclosed: true, Instead: []string{odd, ""}, Ingested: time.Unix(2e9, 0).UTC(),
				Labels: map[string]string{"": odd}, LabelCommits: []string{odd}, Samples: 1<<63 - 1, Objects: -1 << 63, Looked: []string{odd}, State: odd, Outcome: odd},
		},
		Files: []File{{Table: odd, Path: odd, Rows: 1, Bytes: 1 << 62, Checksum: odd}},
	}
	for _, c := range []Commit{c, {}, {Experiments: []Entry{}, Files: []File{}}} {
		data, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decodedAlike(t, data)
		for at := range data {
			data[at] ^= 1
			if checksumMatches(data) {
				t.Errorf("byte %d is another: %s", at, data)
			}
			data[at] ^= 1
		}
	}
}
