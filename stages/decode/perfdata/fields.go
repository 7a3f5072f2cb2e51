package perfdata

import (
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/tracepoint"
)

// keptFields returns the fields of a format that are stored: the event's own, and two of the fields
// that all events have. Other columns repeat the rest.
func keptFields(f *tracepoint.Format) (kept []tracepoint.Field) {
	for _, field := range f.Fields {
		if !field.Common || field.Name == "common_flags" || field.Name == "common_pid" {
			kept = append(kept, field)
		}
	}
	return kept
}

// describeFields lists the stored fields of the tracepoints that the recording describes.
func (r *reader) describeFields() {
	for _, e := range r.events {
		f := r.formatOf(e)
		if f == nil {
			r.fields = append(r.fields, nil)
			if e.typ == typeTracepoint && e.sampleType&sampleRaw != 0 && e.samples > 0 {
				r.problem(diagnostic.Warning, diagnostic.NoOffset, "no-format", "the recording does not describe the tracepoint %s (TRACING_DATA): the fields of its samples are not stored, nor what they tell about threads", e.name)
			}
			continue
		}
		kept := keptFields(f)
		r.fields = append(r.fields, kept)
		for i, field := range kept {
			r.rec.EventFields = append(r.rec.EventFields, decode.EventField{
				Event: e.name, System: f.System, Position: i, Name: field.Name, Type: field.Type,
				Offset: field.Offset, Size: field.Size, Signed: field.Signed, Elements: field.Elements,
				Dynamic: field.Location != tracepoint.Fixed, Text: !field.IsNumber(),
			})
		}
		r.found.accesses |= recordOffsets
	}
	if r.found.accesses&recordOffsets != 0 {
		r.rec.Fields = &fieldReader{records: stackReader{reader: r}, short: map[int32]int64{}}
	}
}

// fieldReader reads the tracepoint fields of samples from their records, a second time.
type fieldReader struct {
	records stackReader
	sample  sample
	text    []byte
	touched int             // bytes read since the files' pages were last released
	short   map[int32]int64 // event -> number of fields that lie outside of their sample, or overlap others
}

// mostText is the maximum length of a sample's texts, in multiples of its data: an array of numbers of
// two bytes, such as `0x1234,0x5678`, has the longest. Longer texts have places that overlap.
const mostText = 4

// Fields implements decode.FieldReader.
func (f *fieldReader) Fields(events arrow.RecordBatch, _ int64, pass func(row, position int, v decode.FieldValue)) error {
	offsets := schema.Events{RecordBatch: events}.Int64s("record")
	return f.records.in.files[0].Guard(func() {
		for row, at := range offsets {
			if at >= 0 {
				f.read(recordOffset(at), row, pass)
			}
		}
	})
}

// read passes the fields of a sample.
func (f *fieldReader) read(at recordOffset, row int, pass func(row, position int, v decode.FieldValue)) {
	r, s := &f.records, &f.sample
	misc, body := r.body(at)
	if f.touched += len(body); f.touched > leastWindow { // samples are mostly in the order of the file
		f.touched = 0
		r.release()
	}
	if !r.readSample(misc, body, s) || s.raw == nil {
		return
	}
	left := mostText * len(s.raw)
	for i := range r.fields[s.event] {
		field := &r.fields[s.event][i]
		if n, ok := field.Number(s.raw, r.big); ok {
			pass(row, i, decode.FieldValue{Number: n})
			continue
		}
		if left < 0 || field.IsNumber() {
			f.short[s.event]++
			continue
		}
		text, ok := field.AppendText(f.text[:0], s.raw, r.big)
		f.text = text
		if left -= len(text); !ok || left < 0 {
			f.short[s.event]++
			continue
		}
		pass(row, i, decode.FieldValue{Text: string(text), IsText: true})
	}
}

// Close reports the fields that samples lack.
func (f *fieldReader) Close() {
	for _, event := range slices.Sorted(maps.Keys(f.short)) {
		f.records.count(diagnostic.Error, f.short[event], "short-fields", "fields of "+f.records.events[event].name+" lie after the end of their samples, or overlap")
	}
}
