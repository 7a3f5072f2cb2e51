package pprof

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// eventReader reads the samples a second time: each value that is not 0 is an event.
type eventReader struct {
	index  *profileIndex
	rest   []byte  // unread part of the profile's content
	stacks []int32 // stack numbers of the unread samples

	// The last sample; values are those that were not returned yet.
	stack  int32
	values []event
	labels string
}

// Close implements decode.EventReader.
func (e *eventReader) Close() {}

// Next implements decode.EventReader.
func (e *eventReader) Next() (arrow.RecordBatch, error) {
	var stacks, types []int32
	var values []int64
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	defer texts.Release()
	for len(values) < schema.BatchRows {
		if len(e.values) == 0 {
			more, err := e.sample()
			if err != nil {
				return nil, err
			}
			if !more {
				break
			}
			continue
		}
		if v := e.values[0]; v.value != 0 {
			stacks, types, values = append(stacks, e.stack), append(types, v.typ), append(values, v.value)
			texts.Append(e.labels)
		}
		e.values = e.values[1:]
	}
	n := len(values)
	if n == 0 {
		return nil, nil
	}
	columns := []arrow.Array{ // in order of the schema
		schema.Int64s(make([]int64, n)), schema.Int64s(make([]int64, n)), schema.Int32s(noCPU()[:n]), schema.Int32s(stacks), schema.Int32s(make([]int32, n)), schema.Int32s(noCPU()[:n]),
		schema.Int32s(types), schema.Int64s(values), texts.NewArray(),
	}
	return decode.NewBatch(schema.EventSchema(schema.Pprof), columns), nil
}

// noCPU is the value of the columns for CPUs and control groups, which profiles do not have.
var noCPU = sync.OnceValue(func() []int32 { return slices.Repeat([]int32{-1}, schema.BatchRows) })

// sample reads the next sample.
func (e *eventReader) sample() (more bool, err error) {
	for len(e.rest) > 0 {
		f, n, err := next(e.rest)
		if err != nil {
			return false, err
		}
		e.rest = e.rest[n:]
		if f.number == fieldSample {
			e.stack, e.stacks = e.stacks[0], e.stacks[1:]
			return true, e.content(f.bytes)
		}
	}
	return false, nil
}

// content reads a sample's values and labels.
func (e *eventReader) content(message []byte) error {
	e.values = e.values[:0]
	var labels []label
	err := fields(message, func(f field) error {
		switch f.number {
		case sampleValue:
			return f.numbers(func(v uint64) error {
				value, _ := e.index.value(len(e.values), int64(v))
				e.values = append(e.values, value)
				return nil
			})
		case sampleLabel:
			var key, text, number, unit uint64
			if err := numberFields(f.bytes, &key, &text, &number, &unit); err != nil {
				return err
			}
			labels = append(labels, e.index.label(key, text, int64(number), unit))
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.labels, err = encoded(labels)
	return err
}

// label is a label of a sample: a text, or a number with a unit.
type label struct {
	key   string
	value any
}

func (x *profileIndex) label(key, text uint64, number int64, unit uint64) label {
	l := label{x.text(key), any(number)}
	switch {
	case text != 0:
		l.value = x.text(text)
	case unit != 0:
		l.value = map[string]any{"num": number, "unit": x.text(unit)}
	}
	return l
}

// encoded returns labels as a JSON object. A key that occurs several times gets a list.
func encoded(labels []label) (string, error) {
	if len(labels) == 0 {
		return "{}", nil
	}
	object := map[string]any{}
	for _, l := range labels {
		switch before := object[l.key].(type) {
		case nil:
			object[l.key] = l.value
		case []any:
			object[l.key] = append(before, l.value)
		default:
			object[l.key] = []any{before, l.value}
		}
	}
	var out bytes.Buffer
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	err := w.Encode(object)
	return string(bytes.TrimRight(out.Bytes(), "\n")), err
}
