package structure

import (
	"stackmill/internal/chunked"
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// checkStacks returns an error for the first reference in the tree of stacks to something that does
// not exist.
func checkStacks(p *program.Program, s *attribute.Stacks) error {
	for n := range s.Frames {
		for _, location := range s.Frames[n].Shown {
			if location != program.None && !inRange(int32(location), p.Locations.Len()) {
				return danglingError(schema.TreeFrames, "frame", int32(n))
			}
		}
	}
	for n, frame := range s.Nodes.Label {
		if !inRange(int32(frame), len(s.Frames)) {
			return danglingError(schema.StackTree, "node", int32(n))
		}
	}
	for n := range s.Recorded {
		if !inRange(int32(s.Recorded[n].Node), s.Nodes.Len()) {
			return danglingError(schema.RecordedStacks, "stack", int32(n))
		}
	}
	return nil
}

// readRecorded reads at which node each recorded stack ends.
func readRecorded(tables schema.TableReader, s *attribute.Stacks) error {
	return schema.EachBatch(tables(schema.RecordedStacks, 0, schema.AllRows, "stack", "process", "node"), func(c *schema.Columns) error {
		numbers, processes, nodes := c.Int32s(0), c.Int32s(1), c.Int32s(2)
		for i := range c.N {
			if int(numbers[i]) != len(s.Recorded) {
				return danglingError(schema.RecordedStacks, "stack", numbers[i])
			}
			s.Recorded = chunked.Append(s.Recorded, attribute.RecordedStack{Process: processes[i], End: stacktree.End{Node: stacktree.NodeNo(nodes[i])}})
		}
		return nil
	})
}

// readFrames reads the locations of frames in each mode.
func readFrames(tables schema.TableReader, s *attribute.Stacks) error {
	return schema.EachBatch(tables(schema.TreeFrames, 0, schema.AllRows, "frame", "user_location", "expert_location", "machine_location"), func(c *schema.Columns) error {
		numbers, shown := c.Int32s(0), [stacktree.Modes][]int32{c.Int32s(1), c.Int32s(2), c.Int32s(3)}
		for i := range c.N {
			f := stacktree.NewFrame()
			for m := range shown {
				if c.Has(1+m, i) {
					f.Shown[m] = program.LocationNo(shown[m][i])
				}
			}
			if int(numbers[i]) != len(s.Frames) {
				return danglingError(schema.TreeFrames, "frame", numbers[i])
			}
			s.Frames = chunked.Append(s.Frames, f)
		}
		return nil
	})
}

// readTree reads the nodes of the tree, which are stored in pre-order.
func readTree(tables schema.TableReader, s *attribute.Stacks) error {
	t := &s.Nodes
	err := schema.EachBatch(tables(schema.StackTree, 0, schema.AllRows, "node", "up", "below", "frame"), func(c *schema.Columns) error {
		nodes, ups, below, frames := c.Int32s(0), c.Int32s(1), c.Int32s(2), c.Int32s(3)
		for i := range c.N {
			n := int32(t.Len())
			parent := n - ups[i]
			root := n == 0 && ups[i] == 0
			if nodes[i] != n || !root && (ups[i] <= 0 || parent < 0 || below[i] < 0 || below[i] > t.Below[parent]-ups[i]) {
				return danglingError(schema.StackTree, "node", nodes[i])
			}
			if root {
				parent = program.None
			}
			t.Parent, t.Label, t.Below = chunked.Append(t.Parent, stacktree.NodeNo(parent)), chunked.Append(t.Label, stacktree.FrameNo(frames[i])), chunked.Append(t.Below, below[i])
		}
		return nil
	})
	if err == nil && t.Len() > 0 && int(t.Below[0]) != t.Len()-1 {
		err = danglingError(schema.StackTree, "node", t.Below[0])
	}
	return err
}
