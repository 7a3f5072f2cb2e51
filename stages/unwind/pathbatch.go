package unwind

import (
	"sync"

	"stackmill/internal/chunked"
	"stackmill/stages/decode"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// PathBatch holds the paths of some stacks of one process, in their order. A TreeBuilder adds them
// to the tree while the Unwinder works on further stacks.
type PathBatch struct {
	first     bool            // it is the first batch of the process
	words     int             // number of words in the process's tree of words
	frames    []frameRef      // the frames of one path after the other, each path from the root
	newFrames []newFrame      // the frames to which negative frameRefs refer
	settle    []decode.WordNo // by frame: the word that settles at this frame, negative for none
	paths     []batchPath
}

// frameRef refers to a frame of a path: it is a plainFrameNo if an earlier path had the frame, else
// -1 minus an index in PathBatch.newFrames.
type frameRef int32

// plainFrameNo numbers the frames that all modes show unchanged. It is twice the number of the PC,
// plus 1 if the frame is at the call before the PC.
type plainFrameNo int32

func newPlainFrameNo(pc symbolize.PCNo, call bool) plainFrameNo {
	f := plainFrameNo(2 * pc)
	if call {
		f++
	}
	return f
}

// newFrame is a frame that may be in the tree already.
type newFrame struct {
	stacktree.Frame
	plain plainFrameNo // the frame's number if all modes show it unchanged, else none
}

// batchPath is the path of one stack in a batch: its next entries of PathBatch.frames. They
// continue the path that ends at base, a settled word (see callerState), or start at the root if
// base is none.
type batchPath struct {
	base   decode.WordNo
	frames int32
	cutOff stacktree.Cut
	empty  bool // machine mode shows no frame
}

// pathBatches reuses the memory of batches.
var pathBatches = sync.Pool{New: func() any { return &PathBatch{} }}

// newPathBatch returns an empty batch of a process with this many words.
func newPathBatch(words int, first bool) *PathBatch {
	b := pathBatches.Get().(*PathBatch)
	*b = PathBatch{first, words, b.frames[:0], b.newFrames[:0], b.settle[:0], b.paths[:0]}
	return b
}

// flushFrames is the number of frames at which a batch is emitted.
const flushFrames = 1 << 13

// TreeBuilder adds the paths of stacks to a tree.
type TreeBuilder struct {
	tree    *stacktree.Tree
	plain   []stacktree.FrameNo // by plainFrameNo: the frame's number in the tree
	settled []stacktree.NodeNo  // by word of the current process: the node of a settled word
}

// NewTreeBuilder returns a builder that adds to the tree t.
func NewTreeBuilder(t *stacktree.Tree) *TreeBuilder { return &TreeBuilder{tree: t} }

// Add adds the paths of a batch to the tree, and takes ownership of the batch.
func (b *TreeBuilder) Add(batch *PathBatch) {
	t := b.tree
	if batch.first { // another process has other words
		b.settled = b.settled[:0]
	}
	b.settled = append(b.settled, make([]stacktree.NodeNo, batch.words-len(b.settled))...)
	at := 0
	for _, p := range batch.paths {
		end := stacktree.End{CutOff: p.cutOff, Empty: p.empty}
		if p.base >= 0 {
			n := b.settled[p.base]
			end.Node, end.Leaf = n, [stacktree.Modes]stacktree.NodeNo{n, n, n}
		}
		for range p.frames {
			if f := batch.frames[at]; f >= 0 {
				n, _ := t.Child(end.Node, b.plain[f])
				end.Node, end.Leaf = n, [stacktree.Modes]stacktree.NodeNo{n, n, n}
			} else {
				b.addNewFrame(&end, &batch.newFrames[-1-f])
			}
			if word := batch.settle[at]; word >= 0 {
				b.settled[word] = end.Node
			}
			at++
		}
		t.Ends.Add(end)
	}
	pathBatches.Put(batch)
}

// addNewFrame adds a frame to the end of a path.
func (b *TreeBuilder) addNewFrame(end *stacktree.End, f *newFrame) {
	number := b.tree.Intern(&f.Frame)
	if f.plain >= 0 {
		for int(f.plain) >= len(b.plain) {
			b.plain = chunked.Append(b.plain, 0)
		}
		b.plain[f.plain] = number
	}
	end.Node, _ = b.tree.Child(end.Node, number)
	for m, location := range f.Shown {
		if location >= 0 {
			end.Leaf[m] = end.Node
		}
	}
}

// Flush emits the paths since the last batch as a batch.
func (u *Unwinder) Flush() {
	if b := u.cache.batch; len(b.paths) > 0 {
		u.cache.batch = newPathBatch(b.words, false)
		u.emit(b)
	}
}
