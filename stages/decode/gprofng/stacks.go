package gprofng

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The reasons why stacks are empty or incomplete.
const (
	reasonMissingStack = "missing-stack"
	reasonMissingLink  = "missing-link"
	reasonLinkCycle    = "link-cycle"
	reasonTooLong      = "stack-too-long"
	reasonBadAddress   = decode.ReasonAddress
)

// Limits of stacks: with damaged links, a stack can become arbitrarily long. Collectors record a
// few hundred words; their options allow a few thousand.
const (
	maxStackWords = 1 << 16
	// minWords and wordsPerByte bound the words of all stacks by the file's
	// size. A stack of 256 words takes at least 40 bytes.
	minWords     = 1 << 20
	wordsPerByte = 8
)

// releaseFrames is how many stacks are resolved before the memory of the file is released.
const releaseFrames = 1 << 14

// stackTable numbers the stacks of a process.
type stackTable struct {
	stacks  *decode.Stacks
	byUID   uidTable
	byLeaf  map[leafKey]int32
	missing int32  // number of the stack to which all references to missing stacks lead; -1 if no stack is missing
	used    []bool // by number of a recorded stack: an event refers to it
	writers int    // how many threads or flows wrote stacks concurrently
}

// leafKey is a stack whose leaf is in the event (gprofng-experiment 3.4, LEAFPC): the number of the
// stack without the leaf (-1 for none), and the leaf.
type leafKey struct {
	number int32
	leaf   uint64
}

// resolver follows the links of fragments (gprofng-experiment 4.3).
type resolver struct {
	*frameFile
	visited map[uint64]int // uid of a fragment -> number of the last walk that saw it
	walk    int
	native  []uint64 // reused for the words of a stack
	java    []uint64
	left    int // number of words that all stacks together may still have
	cut     map[string]int64
}

// resolve returns the table of the stacks of a frame file.
func (f *frameFile) resolve(fileSize int, report reporter) *stackTable {
	t := newStackTable(len(f.frames))
	r := &resolver{frameFile: f, visited: map[uint64]int{}, left: minWords + wordsPerByte*fileSize, cut: map[string]int64{}}
	for i := range f.frames {
		if i%releaseFrames == 0 {
			f.release()
		}
		fr := &f.frames[i]
		if _, ok := t.byUID.number(fr.uid); ok {
			continue
		}
		raw := r.stack(fr)
		t.byUID.put(fr.uid, t.stacks.Add(&raw))
	}
	t.used, t.writers = make([]bool, t.stacks.Len()), f.writers
	for _, c := range []struct{ reason, message string }{
		{reasonMissingLink, "stacks end at a link to a fragment that is not recorded"},
		{reasonLinkCycle, "stacks end where their links run in a circle"},
		{reasonBadAddress, "stacks have words that are neither addresses nor markers; they are left out"},
		{reasonTooLong, "stacks are cut because their links make them impossibly long"},
	} {
		if n := r.cut[c.reason]; n > 0 {
			report(diagnostic.Error, diagnostic.NoOffset, c.reason, c.message, n)
		}
	}
	return t
}

// newStackTable returns an empty table with room for size stacks.
func newStackTable(size int) *stackTable {
	return &stackTable{
		stacks:  &decode.Stacks{},
		byUID:   newUIDTable(size),
		byLeaf:  map[leafKey]int32{},
		missing: -1,
	}
}

// stack resolves a stack, whose words are valid until the next call.
func (r *resolver) stack(fr *frame) decode.RawStack {
	s := decode.RawStack{OMPState: fr.state}
	if fr.hasNative {
		r.native = r.words(r.native, fr.native, &s.Reason)
		s.Words = addresses(r.native, &s.Reason)
	}
	if fr.hasJava {
		r.java = r.words(r.java, fr.java, &s.Reason)
		s.Java = javaFrames(r.java)
	}
	if fr.hasOMP2 {
		s.OMP = addresses(r.words([]uint64{}, fr.omp, &s.Reason), &s.Reason)
	}
	if s.Reason != "" {
		r.cut[s.Reason]++
	}
	return s
}

// words returns the words of a fragment and its continuations. It reuses the memory of list.
func (r *resolver) words(list []uint64, uid uint64, reason *string) []uint64 {
	r.walk++
	list = list[:0]
	why := ""
	for uid != 0 {
		fr, ok := r.fragments[uid]
		if !ok {
			why = reasonMissingLink
			break
		}
		if fr.link != 0 {
			if r.visited[uid] == r.walk {
				why = reasonLinkCycle
				break
			}
			r.visited[uid] = r.walk
		}
		all := len(fr.words) / r.wordBytes
		n := min(all, maxStackWords-len(list), r.left)
		for i := range n {
			list = append(list, r.order.word(fr.words[i*r.wordBytes:], r.wordBytes))
		}
		r.left -= n
		if n < all {
			why = reasonTooLong
			break
		}
		uid = fr.link
	}
	if *reason == "" {
		*reason = why
	}
	return list
}

// addresses removes words that are neither addresses nor markers at a valid position
// (gprofng-experiment 4.4).
func addresses(words []uint64, reason *string) []uint64 {
	n := 0
	for i, w := range words {
		last := i == len(words)-1 && (w == decode.MarkTruncated || w == decode.MarkFailedUnwind)
		if w < decode.NoAddress || w == decode.MarkLeafCheck || last {
			words[n] = w
			n++
		}
	}
	if n < len(words) && *reason == "" {
		*reason = reasonBadAddress
	}
	return words[:n]
}

// javaFrames turns pairs of words into frames: byte code index (low half of the word), method id.
// In a truncated stack, the last frame has MarkTruncated as its method.
func javaFrames(words []uint64) []decode.JavaFrame {
	frames := make([]decode.JavaFrame, 0, len(words)/2)
	for i := 0; i+1 < len(words); i += 2 {
		frames = append(frames, decode.JavaFrame{BCI: int32(words[i]), Method: words[i+1]})
	}
	if n := len(words); n%2 == 1 && words[n-1] == decode.MarkTruncated {
		frames = append(frames, decode.JavaFrame{Method: decode.MarkTruncated})
	}
	return frames
}

// isLeaf reports whether the value of an event's field LEAFPC is the address of a leaf.
func isLeaf(leaf uint64) bool { return leaf != 0 && leaf < decode.NoAddress }

// refer notes that an event refers to a stack. It returns false if the stack was not recorded.
func (t *stackTable) refer(uid, leaf uint64) bool {
	number, ok := t.recorded(uid)
	switch {
	case uid == 0:
	case ok:
		t.used[number] = true
	case number < 0:
		t.missing = t.stacks.Add(&decode.RawStack{OMPState: -1, Reason: reasonMissingStack})
		number = t.missing
	}
	if isLeaf(leaf) {
		t.addLeaf(leafKey{number, leaf})
	}
	return uid == 0 || ok
}

// recorded returns the number of the stack with a uid. If the stack was not recorded, it returns
// t.missing; if uid is 0, -1.
func (t *stackTable) recorded(uid uint64) (number int32, ok bool) {
	if uid == 0 {
		return -1, false
	}
	if number, ok = t.byUID.number(uid); !ok {
		number = t.missing
	}
	return number, ok
}

// unused returns the number of recorded stacks to which no event refers.
func (t *stackTable) unused() int {
	n := 0
	for _, used := range t.used {
		if !used {
			n++
		}
	}
	return n
}

// addLeaf adds the stack that key identifies: an existing stack with a leaf from an event.
func (t *stackTable) addLeaf(key leafKey) {
	if _, ok := t.byLeaf[key]; ok {
		return
	}
	if key.number < 0 {
		t.byLeaf[key] = t.stacks.Add(&decode.RawStack{OMPState: -1, Words: []uint64{key.leaf}})
		return
	}
	t.byLeaf[key] = t.stacks.AddLeaf(key.number, key.leaf)
}

// number returns the number of a stack that was passed to refer before; -1: no stack.
func (t *stackTable) number(uid, leaf uint64) int32 {
	n, _ := t.recorded(uid)
	if isLeaf(leaf) {
		return t.byLeaf[leafKey{n, leaf}]
	}
	return n
}

func (t *stackTable) ompState(number int32) int32 {
	if number < 0 {
		return -1
	}
	return int32(t.stacks.OMPState(number))
}

// uidTable is a hash table from the uids of stacks to their numbers; every event is looked up in
// it. The random seed keeps recordings from provoking collisions.
type uidTable struct {
	slots []uidSlot // their number is a power of 2
	seed  uint64
}

// uidSlot is a uid and the number of its stack plus 1; number is 0 in a free slot.
type uidSlot struct {
	uid    uint64
	number int32
}

// newUIDTable returns an empty table with room for that many stacks.
func newUIDTable(stacks int) uidTable {
	return uidTable{slots: chunked.MakeTable[uidSlot](1 << bits.Len(uint(2*stacks))), seed: rand.Uint64()}
}

// slot returns the slot of a uid, or a free one for it.
func (t *uidTable) slot(uid uint64) *uidSlot {
	high, low := bits.Mul64(uid^t.seed, 0x9e3779b97f4a7c15)
	mask := len(t.slots) - 1
	for at := int(high^low) & mask; ; at = (at + 1) & mask {
		if p := &t.slots[at]; p.uid == uid || p.number == 0 {
			return p
		}
	}
}

// number returns the number of a uid's stack, or false if there is none.
func (t *uidTable) number(uid uint64) (number int32, ok bool) {
	p := t.slot(uid)
	return p.number - 1, p.number != 0
}

// put gives a uid a number. The table must have room.
func (t *uidTable) put(uid uint64, number int32) {
	*t.slot(uid) = uidSlot{uid, number + 1}
}
