package pipeline

import (
	"errors"

	"stackmill/internal/ordered"
	"stackmill/stages/attribute"
	"stackmill/stages/code"
	"stackmill/stages/dataspace"
	"stackmill/stages/listing"
	"stackmill/stages/symbolize"
)

// attribution is the input of attributeSums.
type attribution struct {
	code.Result
	resolver *symbolize.Resolver
	tables   dataspace.Tables
	out      *output
	cgroups  []string
	begin    func() (*listing.Draft, error) // waits for the turn of the experiment; its list may be shared
}

// newAttribution prepares attributeSums for an experiment.
func newAttribution(e *experiment) *attribution {
	began := startOf(e.recording)
	finder := e.attempt.in.sourceFinder(e.files.locator, e.stored.source(began))
	return &attribution{
		Result: code.Result{
			Result: &attribute.Result{
				ExperimentID: e.result.ID, Program: e.build.resolver.Program, Total: e.build.total,
				Stacks: e.build.stacks.Stacks, Sums: e.out.sums.Sums,
			},
			Accessed: e.out.data.AccessLocations(),
			Disassembler: func() *symbolize.Disassembler {
				return symbolize.NewDisassembler(e.build.resolver, e.attempt.in.caches.outlines)
			},
			Sources: code.Sources{Finder: finder, Began: began, Problems: &e.recording.Problems},
		},
		resolver: e.build.resolver, tables: e.files.tables, out: e.out, cgroups: e.recording.CGroups, begin: e.attempt.beginLists,
	}
}

// attributeSums emits the rows of program structure, stacks, values and sources. It returns the
// lists that the experiment may share with others of its batch.
func attributeSums(r *attribution) (*listing.Draft, error) {
	if err := r.out.syncObjects.Rows(r.resolver, r.tables, r.out.writer.write); err != nil {
		return r.Lists, err
	}
	lines, err := r.programRows()
	r.resolver.ForgetCode()
	if err = errors.Join(r.out.segments.Close(), err); err != nil {
		return r.Lists, err
	}
	return r.Lists, r.SourceRows(r.out.writer.write, lines)
}

// programRows emits the rows of program structure, stacks and values. It returns, for each source
// file, the last line that has a value. Independent tables are computed concurrently.
func (r *attribution) programRows() (lines map[string]int32, err error) {
	emit := r.out.writer.write
	shapes := make(chan *attribute.StackViews, 1) // like trees, closed without a value after a panic
	trees := make(chan *attribute.CallTree, 1)
	err = ordered.Run(
		func() error {
			defer close(shapes)
			defer close(trees)
			shape := attribute.NewStackViews(r.Program, r.Stacks, r.Sums)
			shapes <- shape
			tree := attribute.NewCallTree(shape)
			trees <- tree
			functions, err := r.FunctionRows(emit, tree)
			if err != nil {
				return err
			}
			if r.Lists, err = r.begin(); err != nil {
				return err
			}
			return r.CodeRows(emit, functions)
		},
		func() error {
			of := r.Result.Result
			err := errors.Join(r.StackRows(emit), r.out.ioFiles.Rows(of, emit), r.out.sums.UsageRows(of, emit, r.cgroups), r.out.data.Rows(of, emit))
			if tree := <-trees; tree != nil {
				err = errors.Join(err, r.TreeRows(emit, tree))
			}
			return err
		},
		func() (err error) {
			if shape := <-shapes; shape != nil {
				lines, err = r.LineRows(emit, shape)
			}
			return err
		},
	)
	return lines, err
}
