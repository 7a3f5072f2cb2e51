package export

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// speedscopeUnits are the names of units that speedscope knows.
var speedscopeUnits = map[string]string{"ns": "nanoseconds", "bytes": "bytes"}

// speedscope writes a profile of speedscope's own format while its stacks are read: the
// weights and the names of functions follow them.
type speedscope struct {
	out     *bufio.Writer // whose last error is asked for at the end
	numbers map[speedscopeFrame]int
	frames  []speedscopeFrame
	weights []int64
	stacks  map[string]int // places in weights, by frames
	size    int            // about how many bytes they take
	path    []int          // frames of the sample
	key     []byte
	e       *experiment
	inline  bool // inlined functions are frames of their own
}

// speedscopeFrame is a function as speedscope tells them apart.
type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

func writeSpeedscope(ctx context.Context, s *selection, w io.Writer) error {
	p := &speedscope{inline: s.inline, out: bufio.NewWriter(w), numbers: map[speedscopeFrame]int{}, stacks: map[string]int{}}
	m := s.metrics[0]
	unit := speedscopeUnits[m.unit]
	if unit == "" {
		unit = "none"
	}
	fmt.Fprintf(p.out, `{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"stackmill","profiles":[{"type":"sampled","unit":"%s","startValue":0,"samples":[`, unit)
	if err := s.send(ctx, p); err != nil {
		return err
	}
	fmt.Fprintf(p.out, `],"weights":[`)
	for i, v := range p.weights {
		p.separate(i)
		p.number(v)
	}
	fmt.Fprintf(p.out, `],"endValue":%d,"name":%s}],"name":%s,"shared":{"frames":[`, s.total[0], text(s.title+": "+m.name), text(s.title))
	for i, f := range p.frames {
		p.separate(i)
		data, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, _ = p.out.Write(data)
	}
	fmt.Fprintf(p.out, "]}}\n")
	return p.out.Flush()
}

// text is a text as JSON.
func text(s string) []byte {
	data, _ := json.Marshal(s) // a text never fails
	return data
}

func (p *speedscope) separate(i int) {
	if i > 0 {
		_ = p.out.WriteByte(',')
	}
}

func (p *speedscope) number(n int64) { _, _ = p.out.Write(strconv.AppendInt(nil, n, 10)) }

func (p *speedscope) begin(e *experiment) error {
	p.e = e
	return nil
}

// sample adds to the weight of an equal stack, as far as these are kept, or writes another.
func (p *speedscope) sample(s *sample) error {
	p.path, p.key = p.path[:0], p.key[:0]
	for _, n := range s.path {
		for _, l := range p.e.locations[n].frames(p.inline) {
			p.path = append(p.path, p.frame(l.function))
		}
	}
	if len(s.path) == 0 {
		p.path = append(p.path, p.frame(&function{name: noStack}))
	}
	for _, n := range p.path {
		p.key = binary.AppendUvarint(p.key, uint64(n))
	}
	v := s.values[0]
	if at, known := p.stacks[string(p.key)]; known {
		p.weights[at] += v
		return nil
	}
	if p.size += len(p.key) + entrySize; p.size > maxFolded {
		clear(p.stacks)
		p.size = 0
	}
	p.stacks[string(p.key)] = len(p.weights)
	p.separate(len(p.weights))
	_ = p.out.WriteByte('[')
	for i, n := range p.path {
		p.separate(i)
		p.number(int64(n))
	}
	_, err := p.out.WriteString("]")
	p.weights = append(p.weights, v)
	return err
}

// frame returns a function's number. Functions of one name in two load objects are two.
func (p *speedscope) frame(f *function) int {
	key := speedscopeFrame{Name: f.name}
	if f.object != nil {
		key.File = f.object.name
	}
	n, ok := p.numbers[key]
	if !ok {
		n = len(p.frames)
		p.numbers[key] = n
		p.frames = append(p.frames, key)
	}
	return n
}
