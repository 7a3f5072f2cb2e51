package filter

import (
	"cmp"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Visibility says which functions of a load object are shown.
type Visibility uint8

// The kinds of Showing.
const (
	Everything  Visibility = iota
	EntryPoints            // functions that other load objects call
	Nothing                // but <name>, where there is no caller
)

// leaveOut changes the frames of stacks so that functions of libraries are hidden, and emits the
// rows that replace the store's frames.
//
// A stack whose outermost frames are all hidden gets one frame for the library as a whole, so that
// every stack keeps one. A library's entry points are the functions that another load object
// called. The tree keeps its nodes; a frame that is shown at some of them only is split.
func leaveOut(r *attribute.Result, library func(name, path string) Visibility, needed func(*schema.Table) bool, emit Emit) error {
	p := r.Program
	l := &libraries{Result: r, of: make([]Visibility, len(p.Objects)), standIns: map[program.ObjectNo]program.LocationNo{}, numbers: map[frameKey]stacktree.FrameNo{}}
	var left []program.ObjectNo
	found := false
	for n := range p.Objects {
		o := &p.Objects[n]
		if l.of[n] = library(o.Name, o.Path); l.of[n] == Nothing {
			left = append(left, program.ObjectNo(n))
		}
		found = found || l.of[n] != Everything
	}
	if !found {
		return nil
	}
	slices.SortFunc(left, func(a, b program.ObjectNo) int { return cmp.Compare(p.Objects[a].ID, p.Objects[b].ID) })
	if err := l.addStandIns(left, emit); err != nil {
		return err
	}
	for n := range program.LocationNo(p.Locations.Len()) { // an entry point hides what is inlined into it
		if l.of[p.Location(n).Object] == EntryPoints {
			p.Inlines[n] = nil
		}
	}
	stored := len(r.Stacks.Frames)
	l.changeFrames()
	if !slices.ContainsFunc(StackTables(), needed) {
		return nil
	}
	return schema.CloseAll(l.nodeRows(stored, emit), l.frameRows(stored, emit), l.stackRows(emit))
}

// StackTables returns the tables of the store that a session replaces if functions are hidden.
func StackTables() []*schema.Table {
	return []*schema.Table{schema.StackTree, schema.TreeFrames, schema.RecordedStacks}
}

// libraries hides functions in the stacks of an experiment.
type libraries struct {
	*attribute.Result
	of       []Visibility // by load object
	standIns map[program.ObjectNo]program.LocationNo
	numbers  map[frameKey]stacktree.FrameNo // of changed frames
	origins  []stacktree.FrameNo            // the stored frame of each added one
}

type frameKey struct {
	frame stacktree.FrameNo
	shown [stacktree.Modes]program.LocationNo
}

// addStandIns adds a function for each library as a whole.
func (l *libraries) addStandIns(left []program.ObjectNo, emit Emit) error {
	p, rows := l.Program, l.Rows(StandIns, emit)
	for _, n := range left {
		o := &p.Objects[n]
		module, function, location := schema.PathPart(o.ID, -1), schema.PathPart(o.ID, -2), schema.PathPart(o.ID, -3)
		l.standIns[n] = program.LocationNo(p.Locations.Len())
		rows.Int64(o.ID).Text("<" + strings.Trim(o.Name, "<>") + ">").Int32(int32(len(p.Functions))).Int32(int32(p.Locations.Len())).Int64(module).Int64(function).Int64(location)
		p.Inlines = append(p.Inlines, nil)
		p.Locations.Add(program.Location{Object: n, Function: program.FunctionNo(len(p.Functions))})
		p.Functions = append(p.Functions, program.Function{ID: function, Object: n, Module: program.ModuleNo(len(p.Modules))})
		p.Modules = append(p.Modules, program.Module{ID: module, Object: n})
	}
	return rows.Close()
}

// changeFrames gives each node its frame without the hidden functions.
func (l *libraries) changeFrames() {
	t := &l.Stacks.Nodes
	callers := make([][stacktree.Modes]program.ObjectNo, t.Len()) // by node: the load object of the innermost frame, hidden or not
	callers[0] = [stacktree.Modes]program.ObjectNo{program.None, program.None, program.None}
	for n := 1; n < t.Len(); n++ {
		frame := t.Label[n]
		shown, above := l.Stacks.Frames[frame].Shown, &callers[t.Parent[n]]
		callers[n] = *above
		for m, location := range shown {
			if location < 0 {
				continue
			}
			object := l.Program.Location(location).Object
			callers[n][m] = object
			shown[m] = l.shows(location, object, above[m])
		}
		if shown != l.Stacks.Frames[frame].Shown {
			t.Label[n] = l.frame(frameKey{frame, shown})
		}
	}
}

// shows returns the location that a frame shows, given the load object of its caller.
func (l *libraries) shows(location program.LocationNo, object, caller program.ObjectNo) program.LocationNo {
	switch l.of[object] {
	case Everything:
		return location
	case EntryPoints:
		if caller != object {
			return location
		}
	case Nothing:
		if caller == program.None {
			return l.standIns[object]
		}
	}
	return program.None
}

// frame returns the number of a changed frame.
func (l *libraries) frame(k frameKey) stacktree.FrameNo {
	n, known := l.numbers[k]
	if !known {
		n = stacktree.FrameNo(len(l.Stacks.Frames))
		f := l.Stacks.Frames[k.frame]
		f.Shown = k.shown
		l.Stacks.Frames, l.origins = append(l.Stacks.Frames, f), append(l.origins, k.frame)
		l.numbers[k] = n
	}
	return n
}
