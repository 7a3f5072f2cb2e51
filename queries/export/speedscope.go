package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// speedscopeUnits are the names of units that speedscope knows.
var speedscopeUnits = map[string]string{"ns": "nanoseconds", "bytes": "bytes"}

// speedscope writes profiles of speedscope's own format after all stacks were read.
type speedscope struct {
	*selection
	out      *bufio.Writer // whose last error is asked for at the end
	numbers  map[speedscopeFrame]int
	frames   []speedscopeFrame
	profiles map[string]*speedscopeProfile // by thread; of all under "" where these are not told apart
	texts    *spool                        // of the profiles' stacks
	stacks   map[string]int                // places in a profile's weights, by profile and frames
	size     int                           // about how many bytes they take
	path     []int                         // frames of the sample
	key      []byte
	e        *experiment
}

// speedscopeProfile is the samples of a thread, or of all threads.
type speedscopeProfile struct {
	thread  string
	number  int
	stacks  spoolText // as JSON
	weights []int64
	total   int64
}

// speedscopeFrame is a function as speedscope tells them apart.
type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

func writeSpeedscope(ctx context.Context, s *selection, w io.Writer) error {
	p := &speedscope{selection: s, out: bufio.NewWriter(w), numbers: map[speedscopeFrame]int{}, profiles: map[string]*speedscopeProfile{},
		texts: &spool{most: maxFolded}, stacks: map[string]int{}}
	defer p.texts.close()
	if s.by == "" {
		p.of(&sample{}) // there is a profile, even if it is empty
	}
	if err := s.send(ctx, p); err != nil {
		return err
	}
	fmt.Fprint(p.out, `{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"stackmill","profiles":[`)
	for i, of := range p.sorted() {
		p.separate(i)
		if err := p.profile(of); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.out, `],"name":%s,"shared":{"frames":[`, text(s.heading()))
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

// sorted returns the profiles, the highest total first: speedscope shows the first one when it
// opens a file.
func (p *speedscope) sorted() []*speedscopeProfile {
	list := make([]*speedscopeProfile, len(p.profiles))
	for _, of := range p.profiles {
		list[of.number] = of
	}
	slices.SortFunc(list, func(a, b *speedscopeProfile) int {
		return cmp.Or(cmp.Compare(b.total, a.total), strings.Compare(a.thread, b.thread))
	})
	return list
}

func (p *speedscope) profile(of *speedscopeProfile) error {
	m := p.metrics[0]
	fmt.Fprintf(p.out, `{"type":"sampled","unit":"%s","startValue":0,"samples":[`, cmp.Or(speedscopeUnits[m.unit], "none"))
	if err := p.texts.copy(p.out, &of.stacks); err != nil {
		return err
	}
	fmt.Fprintf(p.out, `],"weights":[`)
	for i, v := range of.weights {
		p.separate(i)
		p.number(v)
	}
	fmt.Fprintf(p.out, `],"endValue":%d,"name":%s}`, of.total, text(cmp.Or(of.thread, p.title)+": "+m.name))
	return nil
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

// sample adds to the weight of an equal stack, as far as these are kept, or adds another.
func (p *speedscope) sample(s *sample) error {
	of := p.of(s)
	p.path, p.key = p.path[:0], binary.AppendUvarint(p.key[:0], uint64(of.number))
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
	of.total += v
	if at, known := p.stacks[string(p.key)]; known {
		of.weights[at] += v
		return nil
	}
	if p.size += len(p.key) + entrySize; p.size > maxFolded {
		clear(p.stacks)
		p.size = 0
	}
	p.stacks[string(p.key)] = len(of.weights)
	of.weights = append(of.weights, v)
	return p.texts.add(&of.stacks, func(text []byte) []byte {
		if len(of.weights) > 1 {
			text = append(text, ',')
		}
		text = append(text, '[')
		for i, n := range p.path {
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(n), 10)
		}
		return append(text, ']')
	})
}

// of returns the profile that a sample belongs to.
func (p *speedscope) of(s *sample) *speedscopeProfile {
	thread := p.thread(p.e, s)
	known := p.profiles[thread]
	if known == nil {
		known = &speedscopeProfile{thread: thread, number: len(p.profiles)}
		p.profiles[thread] = known
	}
	return known
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
