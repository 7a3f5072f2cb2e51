package pprof

import (
	"context"
	"fmt"
	"math"
	"path"

	"stackmill/problem"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// maxFrames bounds a stack's frames: a short message can name a location with many inlined
// functions many times.
const maxFrames = 1 << 16

// reader makes stacks of samples.
type reader struct {
	ctx     context.Context
	index   *index
	stacks  *decode.Stacks
	names   *decode.Names
	words   map[uint64][]uint64 // of locations, the innermost frame's first
	numbers []int32             // of the samples' stacks

	tooLong, badLines, tooLarge int64
}

// read makes the stacks of all samples.
func (r *reader) read() error {
	var raw decode.RawStack
	return fields(r.index.content, func(f field) error {
		if f.number != fieldSample {
			return nil
		}
		if len(r.numbers)%(1<<10) == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		raw = decode.RawStack{Words: raw.Words[:0], Callers: decode.CallersUnwound, OMPState: -1}
		values := 0
		if err := fields(f.bytes, func(f field) error { return r.sampleField(&f, &raw, &values) }); err != nil {
			return fmt.Errorf("sample %d: %w", len(r.numbers), err)
		}
		if values != len(r.index.types) {
			return fmt.Errorf("sample %d has %d values for %d types", len(r.numbers), values, len(r.index.types))
		}
		if raw.Reason != "" {
			r.tooLong++
		}
		r.numbers = append(r.numbers, r.stacks.Number(&raw))
		return nil
	})
}

// The fields of a sample.
const (
	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3
)

func (r *reader) sampleField(f *field, raw *decode.RawStack, values *int) error {
	switch f.number {
	case sampleLocation:
		return f.numbers(func(id uint64) error {
			words, err := r.location(id)
			if err != nil {
				return err
			}
			if len(raw.Words)+len(words) > maxFrames {
				raw.Reason = reasonTooLong
				return nil
			}
			if raw.Reason == "" {
				raw.Words = append(raw.Words, words...)
			}
			return nil
		})
	case sampleValue:
		return f.numbers(func(v uint64) error {
			if *values < len(r.index.types) {
				if _, ok := r.index.value(*values, int64(v)); !ok {
					r.tooLarge++
				}
			}
			*values++
			return nil
		})
	case sampleLabel: // which the events read
		return numberFields(f.bytes)
	}
	return nil
}

// location returns the words of a location: a frame for its function and for each that
// was inlined.
func (r *reader) location(id uint64) ([]uint64, error) {
	words, known := r.words[id]
	if known {
		return words, nil
	}
	at, ok := r.index.locations[id]
	if !ok {
		return nil, fmt.Errorf("there is no location %d", id)
	}
	var mapped, address uint64
	err := fields(r.index.content[at.message.from:at.message.to], func(f field) (err error) {
		switch f.number {
		case 2:
			mapped = f.value
		case 3:
			address = f.value
		case 4:
			words, err = r.line(words, f.bytes)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("location %d: %w", id, err)
	}
	if words == nil {
		w, err := r.names.Word(r.unnamed(mapped, address), "", 0)
		if err != nil {
			return nil, err
		}
		words = []uint64{w}
	}
	r.words[id] = words
	return words, nil
}

// line appends the word of a line.
func (r *reader) line(words []uint64, message []byte) ([]uint64, error) {
	var id, line uint64
	if err := numberFields(message, &id, &line); err != nil {
		return nil, err
	}
	f, ok := r.index.functions[id]
	if !ok {
		return nil, fmt.Errorf("there is no function %d", id)
	}
	if line > math.MaxInt32 {
		r.badLines++
		line = 0
	}
	name := r.index.text(f.name)
	if name == "" {
		name = r.index.text(f.system)
	}
	if name == "" {
		name = fmt.Sprintf("<function %d>", id)
	}
	w, err := r.names.Word(name, r.index.text(f.file), int32(line))
	return append(words, w), err
}

// unnamed is the name of a location of which the profile has no function: the offset in
// its file.
func (r *reader) unnamed(mapped, address uint64) string {
	if at, ok := r.index.mapped[mapped]; ok {
		if m := r.index.mappings[at]; address >= m.start {
			return fmt.Sprintf("<%s>@%#x", path.Base("/"+r.index.text(m.file)), address-m.start+m.offset)
		}
	}
	return fmt.Sprintf("<unknown>@%#x", address)
}

// report tells what was left out.
func (r *reader) report(to *problem.Log) {
	add := func(s problem.Severity, reason string, n int64, format string, args ...any) {
		if n > 0 {
			to.Add(problem.Problem{Severity: s, File: ".", Offset: problem.NoOffset, Reason: reason, Message: fmt.Sprintf(format, args...), Count: n})
		}
	}
	add(problem.Warning, reasonTooLong, r.tooLong, "stacks have more than %d frames: the outermost are missing", maxFrames)
	add(problem.Error, bounds.Reason, r.tooLarge, "values are left out: in the metric's unit they need more than 64 bits")
	add(problem.Info, reasonBadLine, r.badLines, "lines have impossible numbers: they are unknown")
	if r.index.dropped {
		add(problem.Info, reasonDropped, 1, "the profile names frames that pprof does not show: they are shown")
	}
}
