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

// The values of Visibility.
const (
	Everything  Visibility = iota
	EntryPoints            // functions that other load objects call
	Nothing                // none; a frame <name> takes the library's place where the stack shows no caller
)

// leaveOut changes the frames of stacks so that functions of libraries are hidden, and emits the
// rows that replace the store's frames.
//
// A library's entry points are the functions that another load object called. If a library is
// hidden completely and its outermost frame has no caller, a frame that represents the library
// replaces it, so that every stack keeps a frame. The nodes of the tree stay; if a frame changes at
// some of its nodes only, these get a new frame.
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
	for n := range program.LocationNo(p.Locations.Len()) { // an entry point hides the functions that are inlined into it
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

// StackTables returns the tables of the store that change if functions are hidden.
func StackTables() []*schema.Table {
	return []*schema.Table{schema.StackTree, schema.TreeFrames, schema.RecordedStacks}
}

// libraries hides functions on the stacks of an experiment.
type libraries struct {
	*attribute.Result
	of       []Visibility // load object -> whether its functions are shown
	standIns map[program.ObjectNo]program.LocationNo
	numbers  map[frameKey]stacktree.FrameNo // a frame and what the modes now show for it -> number of the changed frame
	origins  []stacktree.FrameNo            // the stored frame of each added one
}

type frameKey struct {
	frame stacktree.FrameNo
	shown [stacktree.Modes]program.LocationNo
}

// addStandIns adds, for each load object in left, a function that represents it.
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

// changeFrames replaces the frame of each node that shows a hidden function.
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

// shows returns the location that a frame shows in place of location, which is in the load object
// `object`; program.None hides the frame. caller is the load object of the caller's frame.
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

// frame returns the number of the changed frame k, which it adds if it is new.
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

// Tables of a session with hidden functions. Its views join them to the store's tables.
var (
	StandIns = &schema.Table{Name: "stand_ins", Columns: append(of("experiment_id"),
		wide("load_object_id"), schema.Column{Name: "name"}, narrow("function_no"), narrow("location"), wide("module_id"), wide("function_id"), wide("location_id"))}
	Nodes = &schema.Table{Name: "hidden_nodes", Columns: append(of("experiment_id"), narrow("node"), narrow("frame"))}
	// Frames has the frames of all nodes, with the locations that they show now.
	Frames = &schema.Table{Name: "hidden_frames", Columns: append(of("experiment_id"), narrow("frame"), narrow("stored_frame"),
		missing("user_location"), missing("expert_location"), missing("machine_location"))}
	Leaves = &schema.Table{Name: "hidden_leaves", Columns: append(of("experiment_id"), narrow("stack"), narrow("user_up"), narrow("expert_up"), narrow("machine_up"))}
)

// Tables returns StandIns, Nodes, Frames and Leaves.
func Tables() []*schema.Table { return []*schema.Table{StandIns, Nodes, Frames, Leaves} }

func of(name string) []schema.Column   { return []schema.Column{{Name: name, Type: schema.Label}} }
func wide(name string) schema.Column   { return schema.Column{Name: name, Type: schema.Int64} }
func narrow(name string) schema.Column { return schema.Column{Name: name, Type: schema.Int32} }
func missing(name string) schema.Column {
	return schema.Column{Name: name, Type: schema.Int32, Null: true}
}

// nodeRows emits the nodes that got another frame.
func (l *libraries) nodeRows(stored int, emit Emit) *schema.Rows {
	rows := l.Rows(Nodes, emit)
	for n, frame := range l.Stacks.Nodes.Label {
		if int(frame) >= stored {
			rows.Int32(int32(n)).Int32(int32(frame))
		}
	}
	return rows
}

// frameRows emits the frames that some node has.
func (l *libraries) frameRows(stored int, emit Emit) *schema.Rows {
	used := make([]bool, len(l.Stacks.Frames))
	for _, frame := range l.Stacks.Nodes.Label {
		used[frame] = true
	}
	rows := l.Rows(Frames, emit)
	for n, is := range used {
		if !is {
			continue
		}
		origin := stacktree.FrameNo(n)
		if n >= stored {
			origin = l.origins[n-stored]
		}
		rows.Int32(int32(n)).Int32(int32(origin))
		for _, location := range l.Stacks.Frames[n].Shown {
			if location == program.None {
				rows.Null()
			} else {
				rows.Int32(int32(location))
			}
		}
	}
	return rows
}

// stackRows emits, for each recorded stack and mode, how far before its node the node of its
// visible leaf is.
func (l *libraries) stackRows(emit Emit) *schema.Rows {
	t := &l.Stacks.Nodes
	leaves := make([][stacktree.Modes]int32, t.Len()) // by node
	for n := 1; n < t.Len(); n++ {
		leaves[n] = leaves[t.Parent[n]]
		for m, location := range l.Stacks.Frames[t.Label[n]].Shown {
			if location >= 0 {
				leaves[n][m] = int32(n)
			}
		}
	}
	rows := l.Rows(Leaves, emit)
	for i := range l.Stacks.Recorded {
		node := l.Stacks.Recorded[i].Node
		rows.Int32(int32(i))
		for _, leaf := range leaves[node] {
			rows.Int32(int32(node) - leaf)
		}
	}
	return rows
}
