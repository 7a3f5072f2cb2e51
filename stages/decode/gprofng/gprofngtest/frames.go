package gprofngtest

import "encoding/binary"

// Info is one part of a FRAME packet (gprofng-experiment 4.1). Native, Linked, Reference, Java,
// OpenMP and OpenMPState make one.
type Info struct {
	kind     uint32
	fragment uint64
	words    []uint64
	link     uint64
	linked   bool
	state    int32
}

// JavaFrame is one frame of a Java stack.
type JavaFrame struct {
	BCI    int32
	Method uint64
}

// Native is a native stack, leaf first.
func Native(words ...uint64) Info { return Info{kind: 1, words: words} }

// Linked is a native stack that continues with a fragment (Experiment.Fragment).
func Linked(link uint64, words ...uint64) Info {
	return Info{kind: 1, words: words, link: link, linked: true}
}

// Reference is a native stack that is a fragment defined elsewhere.
func Reference(fragment uint64) Info { return Info{kind: 1, fragment: fragment} }

// Java is a Java stack, leaf first.
func Java(frames ...JavaFrame) Info {
	i := Info{kind: 2}
	for _, f := range frames {
		i.words = append(i.words, uint64(int64(f.BCI)), f.Method)
	}
	return i
}

// OpenMPState is an OpenMP state without a user stack.
func OpenMPState(state int32) Info { return Info{kind: 3, state: state} }

// OpenMP is an OpenMP state with its user stack, leaf first.
func OpenMP(state int32, words ...uint64) Info {
	return Info{kind: 5, words: words, state: state}
}

const (
	typeFrame      = 11
	typeUID        = 17
	flagCompressed = 1 << 31
)

// uid hashes words from root to leaf, as the collector does.
func uid(kind uint32, words []uint64) uint64 {
	h := uint64(kind)
	for i := len(words) - 1; i >= 0; i-- {
		h = (h + words[i]) * 0x9E3779B97F4A7C15
	}
	return h | 1
}

// Frame records a native stack, leaf first, and returns its id. It writes equal stacks once.
func (e *Experiment) Frame(words ...uint64) uint64 {
	return e.FrameWith(0, Native(words...))
}

// FrameWith records a stack of any parts and returns its id: id, or a new id if id is 0. It does
// not write a stack whose id was recorded before.
func (e *Experiment) FrameWith(id uint64, infos ...Info) uint64 {
	if id == 0 {
		var all []uint64
		for _, i := range infos {
			all = append(append(all, uint64(i.kind), i.fragment, i.link, uint64(i.state)), i.words...)
		}
		id = uid(typeFrame, all)
	}
	if e.uids[id] {
		return id
	}
	e.uids[id] = true
	o := e.order()
	b := o.AppendUint64(o.AppendUint32(make([]byte, 4), 16), id)
	for _, i := range infos {
		b = e.appendInfo(b, i)
	}
	e.putFrame(typeFrame, b)
	return id
}

func (e *Experiment) appendInfo(b []byte, i Info) []byte {
	o := e.order()
	start := len(b)
	kind := i.kind
	if i.linked {
		kind |= flagCompressed
	}
	b = o.AppendUint32(append(b, 0, 0, 0, 0), kind)
	if i.kind == 3 || i.kind == 5 {
		b = append(o.AppendUint32(b, uint32(i.state)), 0, 0, 0, 0)
	}
	if i.kind != 3 {
		fragment := i.fragment
		if fragment == 0 {
			fragment = uid(i.kind, append([]uint64{i.link}, i.words...))
		}
		b = o.AppendUint64(b, fragment)
	}
	b = e.appendWords(b, i.words, i.link, i.linked)
	o.AppendUint32(b[start:start], uint32(len(b)-start))
	return b
}

func (e *Experiment) appendWords(b []byte, words []uint64, link uint64, linked bool) []byte {
	for _, w := range words {
		b = e.appendWord(b, w)
	}
	if linked {
		b = binary.LittleEndian.AppendUint64(b, link)
	}
	return b
}

// Fragment records a stack fragment in a packet of its own
// (gprofng-experiment 4.2); link 0 ends the stack.
func (e *Experiment) Fragment(id uint64, link uint64, words ...uint64) {
	o := e.order()
	flags := uint32(0)
	if link != 0 {
		flags = flagCompressed
	}
	b := o.AppendUint64(o.AppendUint32(make([]byte, 4), flags), id)
	e.putFrame(typeUID, e.appendWords(b, words, link, link != 0))
}

// putFrame writes a packet of data.frameinfo. b begins with room for the packet's header.
func (e *Experiment) putFrame(typ uint16, b []byte) {
	if e.frames == nil {
		var err error
		e.frames, err = e.newBlocks("data.frameinfo")
		e.fail(err)
	}
	if e.err != nil {
		return
	}
	if len(b)%4 != 0 || len(b) >= e.Form.BlockSize() {
		e.failf("a frame packet of %d bytes is not possible", len(b))
		return
	}
	o := e.order()
	o.AppendUint16(o.AppendUint16(b[:0], uint16(len(b))), typ)
	buf, err := e.frames.append(0, len(b))
	if err != nil {
		e.fail(err)
		return
	}
	buf.data = append(buf.data, b...)
}
