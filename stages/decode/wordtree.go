package decode

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
)

// WordNo is the number of a node of Stacks. Callers have lower numbers.
type WordNo int32

// WordMarks says what is special about a word, as bits.
type WordMarks uint8

// The marks.
const (
	MarkedExact   WordMarks = 1 << iota // the word is in RawStack.Exact
	MarkedByFrame                       // the word is in RawStack.ByFrame
)

// root returns the caller of the outermost words in the stacks of an origin: a negative number, not
// a node.
func root(origin int32) WordNo { return WordNo(-1 - origin) }

// wordTree is the tree of the words on stacks. Most nodes were added right after their caller, as
// its first callee; a hash table has the others.
type wordTree struct {
	nodes chunked.List[wordNode] // by WordNo
	seed  uint64                 // random seed of hashes: no recording can provoke collisions
	// table is a hash table; 0 marks a free slot. Its length is a power of 2.
	table  []entry
	hashed int        // number of nodes in the table
	path   []pathNode // the nodes of the last stack, root first
}

// wordNode is a node of the tree.
type wordNode struct {
	word   uint64
	caller WordNo
	marks  WordMarks
}

// pathNode is a node of the last stack, with a copy of its word to compare with the next stack.
type pathNode struct {
	word  uint64
	node  WordNo
	marks WordMarks
}

// merge merges words, leaf first, and returns the node of the leaf, or root if there are no words.
// marks may be nil.
func (t *wordTree) merge(root WordNo, words []uint64, marks []WordMarks) WordNo {
	node, depth := t.sharedPath(root, words, marks)
	if depth == len(words) { // keep the longer path for the next stack
		return node
	}
	path, isNew := t.path[:depth], false
	for i := len(words) - depth - 1; i >= 0; i-- {
		word, mark := words[i], WordMarks(0)
		if marks != nil {
			mark = marks[i]
		}
		if isNew { // a new node has no callees yet
			node = t.add(wordNode{word, node, mark})
		} else {
			node, isNew = t.child(node, word, mark)
		}
		path = append(path, pathNode{word, node, mark})
	}
	t.path = path
	return node
}

// sharedPath returns how many outer words a stack shares with the last stack, and the innermost
// node that they share.
func (t *wordTree) sharedPath(root WordNo, words []uint64, marks []WordMarks) (node WordNo, depth int) {
	if len(t.path) == 0 || t.nodes.At(int(t.path[0].node)).caller != root {
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

// child returns the node of a word with that caller. It adds the node if it is new.
func (t *wordTree) child(caller WordNo, word uint64, marks WordMarks) (n WordNo, isNew bool) {
	node := wordNode{word, caller, marks}
	if first := int(caller) + 1; first >= 0 && first < t.nodes.Len() && *t.nodes.At(first) == node {
		return WordNo(first), false
	}
	if len(t.table) > 0 {
		hash, mask := t.hash(&node), len(t.table)-1
		for at := int(hash) & mask; t.table[at] != 0; at = (at + 1) & mask {
			if e := t.table[at]; e.hash() == hash && *t.nodes.At(e.node()) == node {
				return WordNo(e.node()), false
			}
		}
	}
	return t.add(node), true
}

// add adds a new node.
func (t *wordTree) add(node wordNode) WordNo {
	n := t.nodes.Len()
	if !follows(&node, n) {
		if 4*t.hashed >= 3*len(t.table) {
			t.grow()
		}
		t.hashed++
		t.insert(entryOf(t.hash(&node), n))
	}
	t.nodes.Add(node)
	return WordNo(n)
}

// follows reports whether a node was added right after its caller.
func follows(node *wordNode, number int) bool { return int(node.caller) == number-1 }

// entry is a node's hash (upper 32 bits) and its number plus 1 (lower 32 bits).
type entry uint64

func entryOf(hash uint32, node int) entry { return entry(hash)<<32 | entry(node+1) }

func (e entry) hash() uint32 { return uint32(e >> 32) }
func (e entry) node() int    { return int(uint32(e)) - 1 }

// firstSlots is the first size of the hash table.
const firstSlots = 64

// grow doubles the hash table.
func (t *wordTree) grow() {
	for t.seed == 0 {
		t.seed = rand.Uint64()
	}
	entries := t.table
	t.table = chunked.MakeTable[entry](max(2*len(entries), firstSlots))
	for _, e := range entries {
		if e != 0 {
			t.insert(e)
		}
	}
}

// insert inserts an entry into the table.
func (t *wordTree) insert(e entry) {
	mask := len(t.table) - 1
	at := int(e.hash()) & mask
	for t.table[at] != 0 {
		at = (at + 1) & mask
	}
	t.table[at] = e
}

// hash returns a hash in which each bit depends on all fields of a node.
func (t *wordTree) hash(n *wordNode) uint32 {
	high, low := bits.Mul64(n.word^t.seed, uint64(uint32(n.caller))<<8^uint64(n.marks)^bits.RotateLeft64(t.seed, 32))
	high, low = bits.Mul64(high^low^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return uint32(high ^ low)
}
