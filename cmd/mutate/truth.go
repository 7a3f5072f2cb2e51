package main

import "strings"

// columns are parts of a sample.
type columns uint8

const (
	pid columns = 1 << iota
	thread
	cpu
	moment // the time
	stack  // the recorded or unwound words
	value  // event and values
	shift  // the time, by an equal amount in all samples
)

// truth says what may differ from the undamaged recording's samples without an error or warning.
// Any other difference is an unreported loss.
type truth struct {
	samples int     // how many samples may differ per damaged record
	any     bool    // any number of samples may differ
	free    columns // what may differ in all samples
	why     string
}

// truths lists the damages that cannot be noticed, as narrowly as possible. stackmill must report
// any other damage that changes samples.
var truths = map[string]truth{
	// Both formats: a record has no checksum, and nothing counts the records.
	"record dropped":      {samples: 1, why: "records are not numbered: one less in the middle is a sample that was never taken"},
	"record emptied":      {samples: 1, why: "type EMPTY with its size says that nothing was recorded there"},
	"record doubled":      {samples: 1, why: "two equal records may be two events"},
	"record overwritten":  {samples: 1, why: "two equal records may be two events"},
	"record's value":      {samples: 1, why: "a value that may be one, of this sample alone"},
	"record's time":       {samples: 1, free: shift, why: "the time of this sample; where it is the first, the recording starts with it"},
	"record's known type": {samples: 1, why: "it is a record of the other type now"},
	"record inserted":     {samples: 1, why: "a well-formed record may have been recorded"},

	// gprofng.
	"block dropped":        {samples: 1, why: "blocks are not numbered"},
	"block overwritten":    {samples: 1, why: "blocks are not numbered"},
	"program not recorded": {any: true, why: "a program that a process executed may be one that is not recorded"},
	"words of a stack":     {free: stack, why: "addresses that may be some"},
	"log process.pid":      {free: pid, why: "the process's id stands nowhere else"},
	"log profile.ptimer":   {free: value, why: "the profiling interval stands nowhere else"},
	"log field.offset":     {free: thread | cpu | moment | stack | value, why: "where a field is stands nowhere else"},
	"log field.type":       {free: thread | cpu | moment | stack | value, why: "how large a field is stands nowhere else"},

	// perf.
	"perf record":     {free: shift, why: "times count from the first event: where that is another, all move"},
	"event's name":    {free: value, why: "it names the event"},
	"compressed data": {any: true, why: "perf writes the stream without checksums: a literal that differs is another value"},

	// Load objects.
	"call frame information": {free: stack, why: "stacks that are unwound follow what the load object says"},
}

// plus combines the permitted differences of two damages.
func (t truth) plus(o truth) truth {
	if t.why != "" && o.why != "" && !strings.Contains(t.why, o.why) {
		t.why += "; "
	}
	if !strings.Contains(t.why, o.why) {
		t.why += o.why
	}
	return truth{t.samples + o.samples, t.any || o.any, t.free | o.free, t.why}
}
