package types

// Use is how an instruction uses memory. A size of 0 is unknown.
type Use struct {
	Size  int  // bytes
	Float bool // as a floating-point number
}

// Step is a step on the way from a type to the part of it that is used.
type Step struct {
	// Type is an aggregate without typedefs and qualifiers, or at the end of the
	// way a scalar, an array of scalars, or an unknown type, as declared.
	Type   TypeNo
	Member MemberNo // the member that leads here, None for the root
	Offset int64    // of the member in its aggregate, bytes; 0 for the root
}

// maxSteps bounds a way, and maxTried the members to look at for one: in damaged tables
// types contain themselves.
const (
	maxSteps = 64
	maxTried = 4096
)

// Descend returns the way from a type to the most specific part at a byte of
// it. An array is one object: arrays of aggregates lead to the aggregate without
// a step of their own, arrays of scalars end the way, and so does a place in an
// aggregate where no member is. Of members at one place, as in unions, the way
// takes the first that fits the use best. Where bit fields share the used bytes, it
// ends at the aggregate around them: see Hint.
func (t *Table) Descend(typ TypeNo, offset int64, use Use) []Step {
	return t.DescendHint(typ, offset, use, Hint{})
}

// Hint is what is known about an access beyond its size.
type Hint struct {
	// Bits are the used ones, the least significant first; 0 stands for all. They decide
	// which bit field is meant.
	Bits uint64
	// Constant says that a constant is stored: a number of any kind.
	Constant bool
}

// DescendHint is Descend for an access with a hint. If several members of a union
// remain, the way ends at the union.
func (t *Table) DescendHint(typ TypeNo, offset int64, use Use, hint Hint) []Step {
	d := descent{t: t, use: use, left: maxTried, constant: hint.Constant}
	if t.SharesBits(typ, offset, max(use.Size, 1)) {
		d.use.Size, d.shared, d.bits = max(use.Size, 1), true, hint.Bits
	}
	way, _ := d.into(Step{Type: typ, Member: None}, offset, 1)
	return way
}

// fit is how well the end of a way matches its use.
type fit uint8

const (
	hole  fit = iota // no scalar is there
	unfit            // it is of another size
	fitsSize
	fitsKind // and both or neither are floating-point numbers
)

type descent struct {
	t      *Table
	use    Use
	left   int  // members to look at
	shared bool // bits decide between members
	bits   uint64
	// constant says that members of a union fit alike even if they differ in kind.
	constant bool
}

// into returns the rest of a way from a step on.
func (d *descent) into(s Step, offset int64, depth int) ([]Step, fit) {
	aggregate, offset, ok := d.t.aggregate(s.Type, offset)
	if !ok {
		return []Step{s}, d.fit(s, offset)
	}
	s.Type = aggregate
	if offset < 0 && !d.shared || depth == maxSteps {
		return []Step{s}, hole
	}
	var rest []Step
	var best fit
	members := d.candidates
	if d.shared {
		members = d.among
	}
	for _, m := range members(aggregate, offset) {
		if d.left--; d.left < 0 {
			break
		}
		member := &d.t.Members[m]
		behind := offset - member.Offset
		if !d.shared {
			behind = max(behind, 0)
		}
		way, f := d.into(Step{member.Type, m, member.Offset}, behind, depth+1)
		if union := d.t.Types[aggregate].Kind == Union; union && d.constant && f >= fitsSize && best >= fitsSize && d.float(way) != d.float(rest) {
			return []Step{s}, fitsSize
		}
		if rest == nil || f > best {
			rest, best = way, f
		}
		if best == fitsKind && !d.constant {
			break
		}
	}
	return append([]Step{s}, rest...), best
}

// float reports whether a way ends at a floating-point number, or an array of such.
func (d *descent) float(way []Step) bool {
	typ := d.t.Strip(way[len(way)-1].Type)
	for d.t.Types[typ].Kind == Array {
		typ = d.t.Strip(d.t.Types[typ].Elem)
	}
	return d.t.Types[typ].Float
}

// aggregate returns the aggregate that a type is or consists of, and the offset in it;
// false if it is not one.
func (t *Table) aggregate(typ TypeNo, offset int64) (TypeNo, int64, bool) {
	typ = t.Strip(typ)
	array := false
	for t.Types[typ].Kind == Array {
		typ, array = t.Strip(t.Types[typ].Elem), true
	}
	x := &t.Types[typ]
	if array && x.Size > 0 && offset >= 0 {
		offset %= x.Size
	}
	return typ, offset, x.Kind.Aggregate()
}

// candidates returns the members of an aggregate that contain a byte, or else the first
// bit field in the used bytes from there on.
func (d *descent) candidates(aggregate TypeNo, offset int64) []MemberNo {
	a := &d.t.Types[aggregate]
	var holding, behind []MemberNo
	for m := a.First; m < a.End(); m++ {
		x := &d.t.Members[m]
		if x.Offset > offset && x.Offset >= offset+int64(d.use.Size) {
			break
		}
		switch low, high := d.t.extent(x); {
		case low <= offset && offset < high:
			holding = append(holding, m)
		case x.Bits > 0 && offset < high:
			behind = append(behind, m)
		}
	}
	if len(holding) > 0 {
		return holding
	}
	return behind[:min(len(behind), 1)]
}

// extent returns the bytes of its aggregate that a member occupies.
func (t *Table) extent(m *Member) (low, high int64) {
	if m.Bits > 0 {
		return m.Offset, m.Offset + (int64(m.Bit)+int64(m.Bits)+7)/8
	}
	size := t.Types[m.Type].Size
	if e := &t.Types[t.Strip(m.Type)]; e.Kind == Array && e.Count <= 0 {
		return m.Offset, 1 << 62 // a flexible array at the end
	}
	return m.Offset, m.Offset + max(size, 0)
}

// fit compares a scalar, or an array's element, with its use from a byte on.
func (d *descent) fit(s Step, offset int64) fit {
	typ := d.t.Strip(s.Type)
	for d.t.Types[typ].Kind == Array {
		typ = d.t.Strip(d.t.Types[typ].Elem)
	}
	x := &d.t.Types[typ]
	size := x.Size * 8
	if s.Member != None && d.t.Members[s.Member].Bits > 0 {
		size = int64(d.t.Members[s.Member].Bits)
	}
	switch {
	case d.use.Size == 0 || size != int64(d.use.Size)*8 || offset != 0:
		return unfit
	case x.Float != d.use.Float:
		return fitsSize
	}
	return fitsKind
}
