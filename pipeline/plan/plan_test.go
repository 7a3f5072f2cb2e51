package plan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// some returns inputs of several sizes.
func some(n int) (inputs []Input) {
	for i := range n {
		inputs = append(inputs, Input{Path: fmt.Sprintf("/data/%d <&> ü\n.er", i), Bytes: int64(i%7) << 20, State: fmt.Sprint(i)})
	}
	return inputs
}

// Chunks have all inputs in order, and take about the requested time.
func TestChunk(t *testing.T) {
	e := Estimate{PerInput: 1, PerByte: 1e-6}
	for _, tt := range []struct {
		inputs int
		cut    ChunkOptions
		want   int // chunks
	}{
		{0, ChunkOptions{Seconds: 60, Most: 100, CPUs: 1}, 0},
		{1, ChunkOptions{Seconds: 1e-3, Most: 100, CPUs: 1}, 1},
		{700, ChunkOptions{Seconds: 60, Most: 100, CPUs: 1}, 49},
		{700, ChunkOptions{Seconds: 60, Most: 100, CPUs: 4}, 13},
		{700, ChunkOptions{Seconds: 60, Most: 20, CPUs: 1}, 20},
		{700, ChunkOptions{Seconds: 60, Chunks: 7, Most: 20, CPUs: 1}, 7},
		{3, ChunkOptions{Seconds: 60, Chunks: 7, Most: 20, CPUs: 1}, 2},
	} {
		inputs := some(tt.inputs)
		var h Header
		chunks := h.Chunk(inputs, tt.cut, e)
		if !slices.Equal(slices.Concat(chunks...), inputs) || len(chunks) != tt.want || len(h.Chunks) != tt.want || h.Count() != tt.inputs {
			t.Errorf("%+v: %d chunks, want %d, of %d inputs, %d", tt, len(chunks), tt.want, len(slices.Concat(chunks...)), h.Count())
		}
		total := 0.0
		for i := range inputs {
			total += e.Seconds(inputs[i].Bytes) / float64(tt.cut.CPUs)
		}
		for i, c := range h.Chunks {
			if most := total/float64(tt.want) + 8; c.Seconds > most || c.Inputs != len(chunks[i]) {
				t.Errorf("%+v: chunk %d of %d inputs takes %v s, at most %v", tt, i, len(chunks[i]), c.Seconds, most)
			}
		}
	}
}

// A recording that takes longer than a task is alone in its chunk.
func TestChunkLarge(t *testing.T) {
	inputs := some(21)
	inputs[10].Bytes = 1 << 40
	var h Header
	h.Chunk(inputs, ChunkOptions{Seconds: 10, Chunks: 3, Most: 10, CPUs: 1}, Estimate{PerInput: 1, PerByte: 1e-6})
	if len(h.Chunks) != 3 || h.Chunks[1].Inputs != 1 {
		t.Errorf("%+v", h.Chunks)
	}
}

// had returns a store with an experiment, and another one whose commit is damaged.
func had(t *testing.T) (store string, c *storedir.Contents) {
	t.Helper()
	store = t.TempDir()
	commit := storedir.Commit{Batch: "x", StoreVersion: schema.StoreVersion, Files: []storedir.File{{Table: "samples", Path: storedir.FilePath("samples", "x")}},
		Experiments: []storedir.Entry{{ExperimentID: "x", Generation: 1, Path: "/x", Status: "failed"}}}
	text, err := commit.Encode()
	dir := filepath.Join(store, storedir.CommitsDir)
	err = errors.Join(err, os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "x.json"), text, 0o666), os.WriteFile(filepath.Join(dir, "y.json"), nil, 0o666))
	if err == nil {
		c, err = storedir.ReadContents(store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return store, c
}

// write writes a plan for a store with experiments, and returns its header and path.
func write(t *testing.T, inputs []Input) (*Header, string) {
	t.Helper()
	h := &Header{Program: "p", Store: "/store", Task: Task{CPUs: 2, Ingest: []string{"--label=a=b"}}}
	chunks := h.Chunk(inputs, ChunkOptions{Chunks: 3, Most: 10}, Default)
	var text bytes.Buffer
	_, c := had(t)
	if err := Write(&text, h, chunks, c); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.plan")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return h, path
}

// readAll opens a plan and reads all chunks.
func readAll(path string) (inputs []Input, h Header, err error) {
	p, err := Open(path)
	if err != nil {
		return nil, h, err
	}
	defer p.Close()
	for i := range p.Chunks {
		more, err := p.Inputs(i)
		if err != nil {
			return nil, h, err
		}
		inputs = append(inputs, more...)
	}
	_, err = p.Contents("")
	return inputs, p.Header, err
}

func TestWriteOpen(t *testing.T) {
	want := some(20)
	h, path := write(t, want)
	got, read, err := readAll(path)
	if err != nil || !slices.Equal(got, want) || read.ID != h.ID || len(read.Chunks) != 3 || read.Task.Ingest[0] != "--label=a=b" {
		t.Errorf("%v, %+v, %v", got, read, err)
	}
	if _, other := write(t, some(19)); path == other {
		t.Error("the same path")
	} else if _, o, err := readAll(other); err != nil || o.ID == h.ID {
		t.Errorf("other plans have the same id: %v, %v", o.ID, err)
	}
}

// A plan has the store's contents from when it was made, whatever the store has now. A plan without
// contents is valid, too.
func TestContents(t *testing.T) {
	_, path := write(t, some(5))
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	store := t.TempDir()
	c, err := p.Contents(store)
	if err != nil || !c.IsSnapshot() || len(c.Batches) != 1 || len(c.Damaged) != 1 || AtPaths(c)["/x"].Status != Failed {
		t.Fatalf("%+v, %v", c, err)
	}
	h := &Header{}
	old, err := h.encode()
	path = filepath.Join(t.TempDir(), "old.plan")
	if err := errors.Join(err, os.WriteFile(path, old, 0o666)); err != nil {
		t.Fatal(err)
	}
	if p, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if c, err := p.Contents(store); c != nil || err != nil {
		t.Errorf("an old plan has %+v, %v", c, err)
	}
}

// Marks name the batches of a chunk, each once, and no others.
func TestMarks(t *testing.T) {
	store := t.TempDir()
	m := MarksOf(store, "p", 7)
	if batches, err := m.Batches(); len(batches) > 0 || err != nil {
		t.Error(batches, err)
	}
	if err := errors.Join(m.Add("b2"), m.Add("b1"), m.Add("b2"), MarksOf(store, "p", 70).Add("b3"), os.WriteFile(ReportPath(store, "p", 7), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if batches, err := m.Batches(); !slices.Equal(batches, []string{"b1", "b2"}) || err != nil {
		t.Error(batches, err)
	}
	if paths, err := reportPaths(store); !slices.Equal(paths, []string{ReportPath(store, "p", 7)}) || err != nil {
		t.Errorf("the reports are %v, %v", paths, err)
	}
}

// Changing any byte of a plan, or truncating it, is an error.
func TestDamagedPlan(t *testing.T) {
	_, path := write(t, some(5))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.plan")
	read := func(content []byte) error {
		if err := os.WriteFile(damaged, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := readAll(damaged)
		return err
	}
	for at := range text {
		changed := bytes.Clone(text)
		changed[at] ^= 1
		if err := read(changed); !errors.Is(err, ErrNoPlan) {
			t.Errorf("byte %d (%q) changed: %v", at, text[at], err)
		}
		if err := read(text[:at]); !errors.Is(err, ErrNoPlan) {
			t.Errorf("cut at %d: %v", at, err)
		}
	}
}

// Lengths of parts beyond the file's end, or with a sum that overflows, are errors.
func TestLengths(t *testing.T) {
	for _, lengths := range [][]int64{{-1}, {1}, {1 << 62, 1 << 62, 1 << 62, 1 << 62}} {
		h := &Header{Version: Version, ID: noID}
		for _, n := range lengths {
			h.Chunks = append(h.Chunks, Chunk{Part: Part{Length: n}})
		}
		path := filepath.Join(t.TempDir(), "a.plan")
		text, err := h.encode()
		if err == nil {
			err = os.WriteFile(path, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readAll(path); !errors.Is(err, ErrNoPlan) {
			t.Errorf("%d: %v", lengths, err)
		}
	}
}

// report returns a report on recordings of some sizes that took the estimated times.
func report(e Estimate, sizes ...int64) *Report {
	r := &Report{}
	for _, n := range sizes {
		r.Inputs = append(r.Inputs, ReportInput{InStore: true, Batch: "b", Bytes: n, Seconds: e.Seconds(n)})
	}
	r.Inputs = append(r.Inputs, ReportInput{InStore: true, Bytes: 5e9}, ReportInput{Status: "aborted", Seconds: 1e6}) // the last one was not read
	return r
}

// The estimate follows the recordings' measured times.
func TestEstimate(t *testing.T) {
	near := func(a, b float64) bool { return a-b < 1e-9*b+1e-15 && b-a < 1e-9*b+1e-15 }
	for _, tt := range []struct {
		name    string
		reports []*Report
		want    Estimate
	}{
		{"nothing", nil, Default},
		{"nothing read", []*Report{report(Estimate{})}, Default},
		{"one line", []*Report{report(Estimate{PerInput: 0.5, PerByte: 1e-8}, 1e6, 2e7, 3e8), report(Estimate{PerInput: 0.5, PerByte: 1e-8}, 0, 9e8)}, Estimate{0.5, 1e-8, 5}},
		{"one size", []*Report{report(Estimate{PerInput: 0.5, PerByte: 1e-6}, 1e6, 1e6)}, Estimate{1.5, 0, 2}},
		{"larger is faster", []*Report{report(Estimate{PerInput: 3, PerByte: -1e-6}, 1e6, 2e6)}, Estimate{1.5, 0, 2}},
		{"small is nothing", []*Report{report(Estimate{PerInput: -1, PerByte: 1e-6}, 2e6, 4e6)}, Estimate{0, (2e6 + 4e6*3) / (4e12 + 16e12), 2}},
	} {
		var m Measurements
		for _, r := range tt.reports {
			m.Add(r)
		}
		if got := m.Estimate(); !near(got.PerInput, tt.want.PerInput) || !near(got.PerByte, tt.want.PerByte) || got.Measured != tt.want.Measured {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
