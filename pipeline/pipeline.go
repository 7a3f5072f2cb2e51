// Package pipeline runs the stages over one experiment, and over many.
package pipeline

import (
	"fmt"
	"io"

	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/perfdata"
)

// Stage is one step of the way from a recording to the store.
type Stage struct {
	Name string
	Does string
	Out  string // what flows to the next stage
}

// Stages lists the steps, in the order in which data passes them. The way is
// one-way: no stage calls back into an earlier one.
var Stages = []Stage{
	{"decode", "reads the recording's files, by the format found by magic bytes",
		"process image, raw stacks, batches of 64 K events in the order of time"},
	{"symbolize", "joins each distinct PC with the load object that owned it then, and that object's table of functions and lines",
		"locations, functions, modules, load objects"},
	{"unwind", "normalises each distinct raw stack by the manual's rules, once for as long as its mappings stay the same",
		"user, expert and machine stacks"},
	{"dataspace", "finds the instruction that made each access to memory, and the variable or member that it hit, once per distinct instruction",
		"data objects, or reasons why one is not known"},
	{"attribute", "derives what a sample's own record does not hold, sums metrics per stack, and attributes the sums to functions, callers and callees, lines, instructions",
		"sample batches and value rows"},
	{"write", "writes Parquet files and commits them",
		"a batch of the store, which SQL views read"},
}

// Explain prints the stages.
func Explain(w io.Writer) error {
	for i, s := range Stages {
		if _, err := fmt.Fprintf(w, "%d. %-9s  %s\n   %-9s  -> %s\n", i+1, s.Name, s.Does, "", s.Out); err != nil {
			return err
		}
	}
	return nil
}

// decoders lists the input formats.
var decoders = []decode.Decoder{gprofng.New(), perfdata.New()}

// decoderOf returns the decoder that takes path, or nil.
func decoderOf(path string) decode.Decoder {
	for _, d := range decoders {
		if d.Detect(path) {
			return d
		}
	}
	return nil
}
