package plan

import "math"

// Estimate predicts how long one job of an ingest takes for a recording: seconds per input, and per
// byte of it.
type Estimate struct {
	PerInput, PerByte float64
	Measured          int // recordings that it is computed from; 0 for Default
}

// Default is the estimate without measurements: docs/cluster.md says where it comes from.
var Default = Estimate{PerInput: 0.02, PerByte: 20e-9}

// Seconds returns the estimated time for a recording of that many bytes.
func (e *Estimate) Seconds(bytes int64) float64 { return e.PerInput + e.PerByte*float64(bytes) }

// Measurements accumulates the times that recordings took, from the reports of ingests.
type Measurements struct{ n, x, y, xx, xy float64 }

// Add adds the sizes and times of the recordings that an ingest read.
func (m *Measurements) Add(r *Report) {
	for i := range r.Inputs {
		if in := &r.Inputs[i]; in.InStore && in.Batch != "" && in.Seconds > 0 {
			b := float64(in.Bytes)
			m.n, m.x, m.y, m.xx, m.xy = m.n+1, m.x+b, m.y+in.Seconds, m.xx+b*b, m.xy+b*in.Seconds
		}
	}
}

// Estimate returns the least-squares estimate; Default if nothing was added.
func (m *Measurements) Estimate() Estimate {
	if m.n == 0 {
		return Default
	}
	e := Estimate{PerInput: m.y / m.n, Measured: int(m.n)}
	spread := m.n*m.xx - m.x*m.x
	if spread <= 1e-9*m.n*m.xx { // all are of one size
		return e
	}
	perByte := (m.n*m.xy - m.x*m.y) / spread
	perInput := (m.y - perByte*m.x) / m.n
	switch {
	case perByte < 0:
	case perInput < 0:
		e.PerInput, e.PerByte = 0, m.xy/m.xx
	default:
		e.PerInput, e.PerByte = perInput, perByte
	}
	return e
}

// ChunkOptions say how large chunks are.
type ChunkOptions struct {
	Seconds float64 // approximate time of a task
	Chunks  int     // maximum number, instead of Seconds; 0: by Seconds
	Most    int     // maximum number in any case
	CPUs    int     // processors of a task, which reads as many recordings at a time
}

// chunk cuts inputs into chunks of about equal time, in their order.
func (c *ChunkOptions) chunk(inputs []Input, e *Estimate) (chunks [][]Input, about []Chunk) {
	total := 0.0
	for i := range inputs {
		total += e.Seconds(inputs[i].Bytes)
	}
	cpus := float64(max(1, c.CPUs))
	n := c.Chunks
	if n == 0 {
		n = int(min(math.Ceil(total/cpus/c.Seconds), float64(c.Most)))
	}
	n = max(1, min(n, c.Most, len(inputs)))
	share := total / float64(n)
	before, last := 0.0, -1
	for i := range inputs {
		s := e.Seconds(inputs[i].Bytes)
		if middle := min(n-1, int((before+s/2)/share)); middle != last {
			chunks, about, last = append(chunks, nil), append(about, Chunk{}), middle
		}
		k := len(chunks) - 1
		chunks[k] = append(chunks[k], inputs[i])
		a := &about[k]
		a.Inputs, a.Bytes, a.Seconds = a.Inputs+1, a.Bytes+inputs[i].Bytes, a.Seconds+s/cpus
		before += s
	}
	for k := range about {
		about[k].Seconds = math.Round(about[k].Seconds*1e3) / 1e3
	}
	return chunks, about
}

// Chunk cuts the inputs into chunks of about equal time, in their order, and describes them in the
// header.
func (h *Header) Chunk(inputs []Input, c ChunkOptions, e Estimate) (chunks [][]Input) {
	h.Chunks = []Chunk{}
	if len(inputs) > 0 {
		chunks, h.Chunks = c.chunk(inputs, &e)
	}
	return chunks
}
