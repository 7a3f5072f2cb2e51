package decode

import (
	"math/bits"
	"math/rand/v2"
)

// WordNo is the number of a node of Stacks. Callers have smaller ones.
type WordNo int32

// WordMarks say what is special about a word on a stack.
type WordMarks uint8

// The marks.
const (
	MarkedExact   WordMarks = 1 << iota // RawStack.Exact has it
	MarkedByFrame                       // RawStack.ByFrame has it
)

// root is the caller of the outermost words of stacks of an origin.
func root(origin int32) WordNo { return WordNo(-1 - origin) }

// wordTree is the tree of the words on stacks. A node is found by a hash of its word
// and its caller.
type wordTree struct {
	nodes []wordNode // by WordNo
	seed  uint64     // of hashes: nobody can make words whose hashes are equal
	// table has places for the upper half of a node's hash and, below it, its number
	// from 1; 0 is a free place. Their number is a power of 2.
	table []uint64
	path  []pathNode // of a stack before, root first
}

// wordNode is a node.
type wordNode struct {
	word   uint64
	caller WordNo
	marks  WordMarks
}

// pathNode is a node, and its word once more: it is compared with those of the next
// stack.
type pathNode struct {
	word  uint64
	node  WordNo
	marks WordMarks
}

// merge adds words, leaf first, above a root, and returns the node of the leaf: the
// root if there are no words. marks may be nil.
func (t *wordTree) merge(root WordNo, words []uint64, marks []WordMarks) WordNo {
	node, depth := t.shared(root, words, marks)
	if depth == len(words) { // the longer path may serve the next stack
		return node
	}
	path, isNew := t.path[:depth], false
	for i := len(words) - depth - 1; i >= 0; i-- {
		word, mark := words[i], WordMarks(0)
		if marks != nil {
			mark = marks[i]
		}
		if isNew { // nothing calls it yet
			node = t.add(node, word, mark)
		} else {
			node, isNew = t.child(node, word, mark)
		}
		path = append(path, pathNode{word, node, mark})
	}
	t.path = path
	return node
}

// shared returns how many outer words of a stack are as in the path, and the innermost
// node of these.
func (t *wordTree) shared(root WordNo, words []uint64, marks []WordMarks) (node WordNo, depth int) {
	if len(t.path) == 0 || t.nodes[t.path[0].node].caller != root {
		return root, 0
	}
	node = root
	path := t.path[:min(len(t.path), len(words))]
	for depth = range path {
		p, i := &path[depth], len(words)-1-depth
		if p.word != words[i] || marks == nil && p.marks != 0 || marks != nil && p.marks != marks[i] {
			return node, depth
		}
		node = p.node
	}
	return node, len(path)
}

// child returns the node of a word that has the caller, which is added if it is new.
func (t *wordTree) child(caller WordNo, word uint64, marks WordMarks) (n WordNo, isNew bool) {
	if len(t.table) == 0 {
		return t.add(caller, word, marks), true
	}
	h := t.hash(caller, word, marks)
	mask := uint64(len(t.table) - 1)
	for at := h & mask; t.table[at] != 0; at = (at + 1) & mask {
		if e := t.table[at]; e>>32 == h>>32 {
			n := WordNo(uint32(e) - 1)
			if o := &t.nodes[n]; o.word == word && o.caller == caller && o.marks == marks {
				return n, false
			}
		}
	}
	return t.add(caller, word, marks), true
}

// add adds a node that there is not.
func (t *wordTree) add(caller WordNo, word uint64, marks WordMarks) WordNo {
	if 4*len(t.nodes) >= 3*len(t.table) {
		t.grow()
	}
	t.nodes = append(t.nodes, wordNode{word, caller, marks})
	t.put(t.hash(caller, word, marks), uint64(len(t.nodes)))
	return WordNo(len(t.nodes) - 1)
}

// firstPlaces is how many places the hash table has at first.
const firstPlaces = 64

// grow makes a table with twice as many places.
func (t *wordTree) grow() {
	for t.seed == 0 {
		t.seed = rand.Uint64()
	}
	t.table = make([]uint64, max(2*len(t.table), firstPlaces))
	for i := range t.nodes {
		n := &t.nodes[i]
		t.put(t.hash(n.caller, n.word, n.marks), uint64(i)+1)
	}
}

// put puts a number from 1 into the table.
func (t *wordTree) put(hash, number uint64) {
	mask := uint64(len(t.table) - 1)
	at := hash & mask
	for t.table[at] != 0 {
		at = (at + 1) & mask
	}
	t.table[at] = hash>>32<<32 | number
}

// hash returns a number each bit of which depends on all that makes a node.
func (t *wordTree) hash(caller WordNo, word uint64, marks WordMarks) uint64 {
	high, low := bits.Mul64(word^t.seed, uint64(uint32(caller))<<8^uint64(marks)^bits.RotateLeft64(t.seed, 32))
	high, low = bits.Mul64(high^low^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return high ^ low
}
