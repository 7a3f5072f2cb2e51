package main

import "strings"

// columns are bits for the parts of a sample.
type columns uint16

const (
	pid columns = 1 << iota
	thread
	cpu
	moment  // the time
	stack   // the recorded or unwound words
	value   // event and values
	shift   // times of all samples may be shifted by the same amount
	states  // the states of threads
	content // the fields of tracepoints
)

// truth says which differences from the samples of the undamaged recording stackmill cannot notice.
// Any other difference without an error or warning is a failure.
type truth struct {
	samples int     // how many samples may be missing or new, per damaged record
	any     bool    // any samples may be missing or new
	free    columns // parts that may differ in any sample
	why     string
}

// truths lists, by kind of damage, what stackmill cannot notice. Each entry is as narrow as
// possible.
var truths = map[string]truth{
	// Both formats: records have no checksums and are not counted.
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
	"perf record":      {free: shift, why: "times count from the first event: where that is another, all move"},
	"event's name":     {free: value, why: "it names the event"},
	"format's text":    {free: content | states, why: "the description stands nowhere else"},
	"lives of threads": {free: pid, why: "a thread may begin, end or have a name at any time"},
	"many formats":     {why: "descriptions of events that were not recorded"},
	"lost nothing":     {why: "no record was lost"},
	"more threads":     {why: "the threads may have been there"},
	"counters":         {free: states, why: "which CPUs and threads are counted stands nowhere else"},
	"compressed data":  {any: true, why: "perf writes the stream without checksums: a literal that differs is another value"},

	// Load objects.
	"call frame information": {free: stack, why: "stacks that are unwound follow what the load object says"},
}

// plus returns the differences that cannot be noticed after two damages.
func (t truth) plus(o truth) truth {
	if t.why != "" && o.why != "" && !strings.Contains(t.why, o.why) {
		t.why += "; "
	}
	if !strings.Contains(t.why, o.why) {
		t.why += o.why
	}
	return truth{t.samples + o.samples, t.any || o.any, t.free | o.free, t.why}
}
