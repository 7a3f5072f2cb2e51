package replay

import (
	"fmt"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// The parts of a stack whose frames have words, as in tree_frames.part.
const (
	native = "native"
	java   = "java"
	openMP = "openmp"
)

// stackTree is the tree of recorded stacks, without the results of the rules.
type stackTree struct {
	up, frame []int32 // by node: distance to the caller's node, and index in frames
	frames    []frame
}

type frame struct {
	part byte // first letter of the part's name, 0 if the frame is in none
	bci  int32
	word uint64
}

// readStacks fills in the stacks of the processes. It returns, for each row of recorded_stacks, the
// number of the stack in its process; -1 if no stack was recorded.
func readStacks(tables schema.TableReader, r *Recording) (raw []int32, err error) {
	var t stackTree
	if err := t.read(tables); err != nil {
		return nil, err
	}
	processes := map[int32]*decode.Process{}
	for _, p := range r.Processes {
		processes[int32(p.Number)] = p
	}
	var s stackWords
	err = schema.EachBatch(tables(schema.RecordedStacks, 0, schema.AllRows, "process", "node", "first_up", "form"), func(c *schema.Columns) error {
		owners, nodes, ups, forms := c.Int32s(0), c.Int32s(1), c.Int32s(2), c.Int32s(3)
		for i := range c.N {
			n, p := len(raw), processes[owners[i]]
			switch first := n - int(ups[i]); {
			case !c.Has(3, i):
				raw = append(raw, -1)
				continue
			case p == nil || p.Stacks == nil || first < 0 || first > n || forms[i] < 0 || int(forms[i]) >= len(r.forms):
				return fmt.Errorf("table recorded_stacks: row %d refers to a node or row that does not exist", n)
			case first < n:
				raw = append(raw, raw[first])
				continue
			}
			if err := t.stack(nodes[i], &s); err != nil {
				return err
			}
			stack := r.forms[forms[i]].Stack(s.words, s.java, s.omp)
			raw = append(raw, p.Stacks.Add(&stack))
		}
		return nil
	})
	return raw, err
}

func (t *stackTree) read(tables schema.TableReader) error {
	err := schema.EachBatch(tables(schema.StackTree, 0, schema.AllRows, "up", "frame"), func(c *schema.Columns) error {
		t.up, t.frame = append(t.up, c.Int32s(0)...), append(t.frame, c.Int32s(1)...)
		return nil
	})
	if err != nil {
		return err
	}
	return schema.EachBatch(tables(schema.TreeFrames, 0, schema.AllRows, "part", "word", "bci"), func(c *schema.Columns) error {
		parts, words, bcis := c.Texts(0), c.Int64s(1), c.Int64s(2)
		for i := range c.N {
			f := frame{word: uint64(words[i]), bci: int32(bcis[i])}
			if part := parts(i); part != "" {
				f.part = part[0]
			}
			t.frames = append(t.frames, f)
		}
		return nil
	})
}

// stackWords are the words of a stack, leaf first.
type stackWords struct {
	words []uint64
	java  []decode.JavaFrame
	omp   []uint64
}

// stack fills in the words on the path from a node to the root.
func (t *stackTree) stack(node int32, s *stackWords) error {
	s.words, s.java, s.omp = s.words[:0], s.java[:0], s.omp[:0]
	for n := node; n != 0; n -= t.up[n] {
		if n < 0 || int(n) >= len(t.up) || t.up[n] <= 0 || t.up[n] > n || t.frame[n] < 0 || int(t.frame[n]) >= len(t.frames) {
			return fmt.Errorf("table stack_tree: node %d refers to a frame or node that does not exist", n)
		}
		switch f := &t.frames[t.frame[n]]; f.part {
		case native[0]:
			s.words = append(s.words, f.word)
		case java[0]:
			s.java = append(s.java, decode.JavaFrame{Method: f.word, BCI: f.bci})
		case openMP[0]:
			s.omp = append(s.omp, f.word)
		}
	}
	return nil
}
