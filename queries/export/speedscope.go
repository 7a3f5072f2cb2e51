package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// speedscopeUnits maps units to speedscope's names for them.
var speedscopeUnits = map[string]string{"ns": "nanoseconds", "bytes": "bytes"}

// speedscopeWriter writes speedscope's format. It needs all stacks before it can write.
type speedscopeWriter struct {
	*selection
	out          *bufio.Writer // an error is kept until the final Flush
	frameNumbers map[speedscopeFrame]int
	frames       []speedscopeFrame
	profiles     map[string]*speedscopeProfile // thread -> its profile; the key is "" if stacks are not separated by thread
	texts        *spool                        // text of the profiles' stacks
	stacks       map[string]int                // index into a profile's weights, by a key made of profile and frames
	size         int                           // approximate memory of the keys in stacks
	path         []int                         // frames of the current sample, from the root
	key          []byte
	e            *experiment
}

// speedscopeProfile has the samples of a thread, or of all threads if stacks are not separated by thread.
type speedscopeProfile struct {
	thread  string
	number  int
	stacks  spoolText // a JSON list of frames for each weight
	weights []int64
	total   int64
}

// speedscopeFrame is a function as speedscope identifies it.
type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

func writeSpeedscope(ctx context.Context, s *selection, w io.Writer) error {
	p := &speedscopeWriter{selection: s, out: bufio.NewWriter(w), frameNumbers: map[speedscopeFrame]int{}, profiles: map[string]*speedscopeProfile{},
		frames: []speedscopeFrame{}, texts: &spool{max: maxFolded}, stacks: map[string]int{}}
	defer p.texts.close()
	if s.by == "" {
		p.profileOf(&sample{}) // so that there is a profile even without samples
	}
	if err := s.send(ctx, p); err != nil {
		return err
	}
	fmt.Fprint(p.out, `{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"stackmill","profiles":[`)
	for i, of := range p.sorted() {
		if i > 0 {
			_ = p.out.WriteByte(',')
		}
		if err := p.profile(of); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.out, `],"name":%s,"shared":{"frames":%s}}`+"\n", toJSON(s.heading()), toJSON(p.frames))
	return p.out.Flush()
}

// sorted returns the profiles, the one with the highest total first: speedscope shows the first profile.
func (p *speedscopeWriter) sorted() []*speedscopeProfile {
	list := make([]*speedscopeProfile, len(p.profiles))
	for _, of := range p.profiles {
		list[of.number] = of
	}
	slices.SortFunc(list, func(a, b *speedscopeProfile) int {
		return cmp.Or(cmp.Compare(b.total, a.total), strings.Compare(a.thread, b.thread))
	})
	return list
}

func (p *speedscopeWriter) profile(of *speedscopeProfile) error {
	m := p.metrics[0]
	fmt.Fprintf(p.out, `{"type":"sampled","unit":"%s","startValue":0,"samples":[`, cmp.Or(speedscopeUnits[m.unit], "none"))
	if err := p.texts.copy(p.out, &of.stacks); err != nil {
		return err
	}
	fmt.Fprintf(p.out, `],"weights":%s,"endValue":%d,"name":%s}`, toJSON(of.weights), of.total, toJSON(cmp.Or(of.thread, p.title)+": "+m.name))
	return nil
}

func (p *speedscopeWriter) begin(e *experiment) error {
	p.e = e
	return nil
}

// sample adds the sample's value to the weight of an equal stack if there is one in memory; otherwise it adds a
// stack.
func (p *speedscopeWriter) sample(s *sample) error {
	of := p.profileOf(s)
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

// profileOf returns the profile that a sample belongs to.
func (p *speedscopeWriter) profileOf(s *sample) *speedscopeProfile {
	thread := p.thread(p.e, s)
	known := p.profiles[thread]
	if known == nil {
		known = &speedscopeProfile{thread: thread, number: len(p.profiles), weights: []int64{}}
		p.profiles[thread] = known
	}
	return known
}

// frame returns the index of a function's frame. Functions with the same name in different load objects have
// different frames.
func (p *speedscopeWriter) frame(f *function) int {
	key := speedscopeFrame{Name: f.name}
	if f.object != nil {
		key.File = f.object.name
	}
	n, ok := p.frameNumbers[key]
	if !ok {
		n = len(p.frames)
		p.frameNumbers[key] = n
		p.frames = append(p.frames, key)
	}
	return n
}
