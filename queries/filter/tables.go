package filter

import (
	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// The tables of a session that hides functions, which it joins to the store's.
var (
	StandIns = &schema.Table{Name: "stand_ins", Columns: append(of("experiment_id"),
		wide("load_object_id"), schema.Column{Name: "name"}, narrow("function_no"), narrow("location"), wide("module_id"), wide("function_id"), wide("location_id"))}
	Nodes = &schema.Table{Name: "hidden_nodes", Columns: append(of("experiment_id"), narrow("node"), narrow("frame"))}
	// Frames has all frames that nodes refer to, with the locations that they show.
	Frames = &schema.Table{Name: "hidden_frames", Columns: append(of("experiment_id"), narrow("frame"), narrow("stored_frame"),
		missing("user_location"), missing("expert_location"), missing("machine_location"))}
	Leaves = &schema.Table{Name: "hidden_leaves", Columns: append(of("experiment_id"), narrow("stack"), narrow("user_up"), narrow("expert_up"), narrow("machine_up"))}
)

// Tables returns these tables.
func Tables() []*schema.Table { return []*schema.Table{StandIns, Nodes, Frames, Leaves} }

func of(name string) []schema.Column   { return []schema.Column{{Name: name, Type: schema.Label}} }
func wide(name string) schema.Column   { return schema.Column{Name: name, Type: schema.Int64} }
func narrow(name string) schema.Column { return schema.Column{Name: name, Type: schema.Int32} }
func missing(name string) schema.Column {
	return schema.Column{Name: name, Type: schema.Int32, Null: true}
}

// nodeRows emits the nodes whose frame has changed.
func (l *libraries) nodeRows(stored int, emit Emit) *schema.Rows {
	rows := l.Rows(Nodes, emit)
	for n, frame := range l.Stacks.Nodes.Label {
		if int(frame) >= stored {
			rows.Int32(int32(n)).Int32(int32(frame))
		}
	}
	return rows
}

// frameRows emits the frames that nodes refer to.
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

// stackRows emits how many nodes above their ends recorded stacks have their leaves.
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
