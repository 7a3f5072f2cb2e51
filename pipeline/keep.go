package pipeline

import (
	"slices"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/replay"
)

// contents is what `recordings` has of a recording, taken before its events are read.
type contents struct {
	problems []diagnostic.Problem
	parts    []string // by process
}

func (e *experiment) keep() error {
	c := &contents{problems: slices.Clone(e.rec.Problems.Problems)}
	for _, p := range e.rec.Processes {
		c.problems = slices.DeleteFunc(c.problems, func(of diagnostic.Problem) bool { // they are looked for again
			return of.Process == p.Number && slices.ContainsFunc(p.JITDumps, func(d decode.JITDump) bool { return !d.Attached && d.Path == of.File })
		})
		content, err := replay.EncodeProcess(p)
		if err != nil {
			return err
		}
		c.parts = append(c.parts, content)
	}
	e.contents = c
	return nil
}

func (e *experiment) recordingRows() error {
	whole, err := replay.EncodeRecording(e.rec, e.stacks.Forms.List, e.contents.problems)
	if err != nil {
		return err
	}
	rows := schema.NewRows(schema.Recordings, e.result.ID, e.out.write)
	rows.Append(int32(0), whole)
	for i, content := range e.contents.parts {
		rows.Append(int32(e.rec.Processes[i].Number), content)
	}
	return rows.Close()
}
