package pprof

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// maxFrames is the maximum number of frames of a stack: even a short message can refer to a
// location many times.
const maxFrames = 1 << 16

// reader makes the stacks of samples.
type reader struct {
	ctx         context.Context
	index       *profileIndex
	stacks      *decode.Stacks
	names       *decode.Names
	words       map[uint64]uint64 // id of a location -> its word
	noStackWord uint64            // the word of the noStack function, if the profile has it
	numbers     []int32           // stack numbers of the samples

	tooLong, badLines, tooLarge, tooDeep, nameless int64
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
		if len(raw.Words) == 1 && raw.Words[0] == r.noStackWord {
			raw.Words = raw.Words[:0]
		}
		if len(raw.Words) == 0 {
			raw.Reason = reasonNoStack
		}
		r.numbers = append(r.numbers, r.stacks.Intern(&raw))
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
			w, err := r.location(id)
			if err != nil {
				return err
			}
			if len(raw.Words) == maxFrames {
				raw.Reason = reasonTooLong
				return nil
			}
			raw.Words = append(raw.Words, w)
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
	case sampleLabel: // only a check here: eventReader reads labels
		var key, text, number, unit uint64
		if err := numberFields(f.bytes, &key, &text, &number, &unit); err != nil {
			return err
		}
		if !r.index.haveTexts(key, text, unit) {
			return fmt.Errorf("a label: %w", errNoText)
		}
	}
	return nil
}

// report reports what is missing or unknown.
func (r *reader) report(to *diagnostic.Log) {
	add := func(s diagnostic.Severity, reason string, n int64, format string, args ...any) {
		if n > 0 {
			to.Add(diagnostic.Problem{Severity: s, File: ".", Offset: diagnostic.NoOffset, Reason: reason, Message: fmt.Sprintf(format, args...), Count: n})
		}
	}
	add(diagnostic.Warning, reasonTooLong, r.tooLong, "stacks have more than %d frames: the outermost are missing", maxFrames)
	add(diagnostic.Error, bounds.Reason, r.tooLarge, "values are left out: in the metric's unit they need more than 64 bits")
	add(diagnostic.Info, reasonBadLine, r.badLines, "line numbers are impossible: these lines count as unknown")
	add(diagnostic.Warning, reasonTooDeep, r.tooDeep, "locations have more than %d inlined functions: the innermost are shown as one, %s", maxLevels, deeperInlined)
	add(diagnostic.Info, reasonNameless, r.nameless, "locations have addresses but no functions: `go tool pprof -proto PROGRAM FILE > FILE.pb.gz` may add the names")
	add(diagnostic.Info, reasonDropped, r.index.droppedFunctions(), "functions are shown that pprof hides because they match the profile's `drop_frames`")
}

// droppedFunctions returns the number of functions that pprof hides because of the profile's
// drop_frames.
func (x *profileIndex) droppedFunctions() (n int64) {
	drop, err := regexp.Compile("^(?:" + x.text(x.drop) + ")$")
	if x.drop == 0 || err != nil {
		return 0
	}
	keep, err := regexp.Compile("^(?:" + x.text(x.keep) + ")$")
	for _, f := range x.functions {
		name := cmp.Or(x.text(f.name), x.text(f.system))
		if drop.MatchString(name) && (x.keep == 0 || err != nil || !keep.MatchString(name)) {
			n++
		}
	}
	return n
}
