package types

// Use is how an instruction uses memory. Size is 0 if unknown.
type Use struct {
	Size   int  // bytes
	Float  bool // it accesses a floating-point number
	Vector bool // it accesses several numbers at once, or uninterpreted bytes
	Part   bool // it may need only a part of a longer integer: it loads, or changes some bits
	Store  bool // it stores an integer of this size
	Kind   Kind // kind of the stored value: Base or Pointer; Void if unknown
}

// Fit is how well a use fits the member or variable at its address.
type Fit uint8

const (
	FitNone   Fit = iota // there is no member
	FitWrong             // the member is a number of another kind
	FitBeyond            // the use extends beyond the member
	FitPart              // the member is longer than the use
	FitSize              // the member has the use's size
	FitKind              // the member also fits in kind: both are floating-point numbers, or neither is
)

// Step is a step on the path from a type to the part of it that an instruction uses.
type Step struct {
	// Type is an aggregate without typedefs and qualifiers. At the end of the path, it may also be
	// a scalar, an array of scalars, or an unknown type, as declared.
	Type   TypeNo
	Member MemberNo // the member of this type in the step before, None for the root
	Offset int64    // the member's offset in its aggregate, bytes; 0 for the root
}

// maxSteps bounds the length of a path, maxTried the number of members that a search examines: in
// damaged tables, types may contain themselves.
const (
	maxSteps = 64
	maxTried = 4096
)

// Descend returns the path from a type to the most specific part at the first byte of a use. An
// array is one object: an array of aggregates has no step of its own, and an array of scalars ends
// the path. The path also ends at an aggregate if the byte is padding, at a union if the use fits
// several members equally well, and at an aggregate if the used bytes belong to a bit field and
// another member, and no Hint tells which one is used.
func (t *Table) Descend(typ TypeNo, offset int64, use Use) []Step {
	way, _ := t.DescendHint(typ, offset, use, Hint{})
	return way
}

// Hint has further information about an access.
type Hint struct {
	Bits     uint64 // used bits, the least significant first, which determine the bit field; 0: all
	Constant bool   // a constant is stored, which may be a number of any kind
}

// DescendHint is Descend for an access with a hint. It also returns how well the use
// fits the end of the path.
func (t *Table) DescendHint(typ TypeNo, offset int64, use Use, hint Hint) ([]Step, Fit) {
	d := descent{t: t, use: use, left: maxTried, constant: hint.Constant}
	if t.SharesBits(typ, offset, max(use.Size, 1)) {
		d.use.Size, d.shared, d.bits = max(use.Size, 1), true, hint.Bits
	}
	way, fit := d.into(Step{Type: typ, Member: None}, offset, 1)
	switch last := &t.Types[t.Strip(way[len(way)-1].Type)]; {
	case !d.shared:
	case use.Float:
		fit = FitWrong
	case last.Kind.Aggregate():
		fit = FitBeyond
	default:
		fit = FitKind
	}
	return way, fit
}

// Holding cuts a path after the last step whose type contains all bytes of a use.
func (t *Table) Holding(typ TypeNo, way []Step, offset, size int64) []Step {
	_, offset, _ = t.aggregate(typ, offset)
	for i, s := range way[1:] {
		m := &t.Members[s.Member]
		offset -= m.Offset
		if low, high := t.extent(m); offset < 0 || offset+size > high-low {
			return way[:i+1]
		}
		_, offset, _ = t.aggregate(m.Type, offset)
	}
	return way
}

// descent is a search for the path to the part that is used.
type descent struct {
	t        *Table
	use      Use
	left     int  // members that may still be examined
	shared   bool // bits select the member
	bits     uint64
	constant bool // members of a union fit equally well even if they differ in kind
}

// into returns the path from step s on, and how well the use fits its end. The use begins at
// offset.
func (d *descent) into(s Step, offset int64, depth int) ([]Step, Fit) {
	aggregate, offset, ok := d.t.aggregate(s.Type, offset)
	if !ok {
		return []Step{s}, d.fit(s, offset)
	}
	s.Type = aggregate
	if offset < 0 && !d.shared || depth == maxSteps {
		return []Step{s}, FitNone
	}
	best := choice{union: d.t.Types[aggregate].Kind == Union}
	members := d.candidates
	if d.shared {
		members = d.membersByBits
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
		way, fit := d.into(Step{member.Type, m, member.Offset}, behind, depth+1)
		best.add(d, way, fit)
	}
	switch {
	case best.ambiguous:
		return []Step{s}, best.fit
	case best.way == nil && d.reaches(aggregate, offset):
		return []Step{s}, FitBeyond
	}
	return append([]Step{s}, best.way...), best.fit
}

// choice chooses one of the members of an aggregate at which a use may begin.
type choice struct {
	union     bool
	way       []Step
	fit       Fit
	ambiguous bool // the use fits several members of a union
}

// add considers another member: way is the path into it, and fit how well the use fits the path's
// end. The best fit is chosen. For a union, the choice is ambiguous if several members fit equally
// well, or if a load may be of the member that it fits less well.
func (c *choice) add(d *descent, way []Step, fit Fit) {
	if c.way == nil {
		c.way, c.fit = way, fit
		return
	}
	low, high := min(fit, c.fit), max(fit, c.fit)
	switch {
	case c.union && d.constant && low >= FitSize && d.float(way) != d.float(c.way),
		c.union && d.use.Size > 0 && (low == high && fit != FitBeyond || d.use.Part && d.mayLoad(low, way, c.way)):
		c.ambiguous, c.fit = true, high
	case fit > c.fit:
		c.way, c.fit, c.ambiguous = way, fit, false
	}
}

// AnyLoad is the size in bytes of the loads with which compilers may also read a smaller integer,
// if the additional bits do not matter.
const AnyLoad = 4

// mayLoad reports whether a use may also be of the member that it fits less well, with the fit low:
// it may load a part of a longer number, or a small number and bytes behind it.
func (d *descent) mayLoad(low Fit, ways ...[]Step) bool {
	if low != FitBeyond || d.use.Size != AnyLoad {
		return low >= FitPart
	}
	for _, way := range ways {
		x := &d.t.Types[d.t.Strip(way[len(way)-1].Type)]
		if (x.Kind == Base || x.Kind == Enumeration) && !x.Float && x.Size > 0 && x.Size < AnyLoad {
			return true
		}
	}
	return false
}

// float reports whether a path ends at a floating-point number, or at an array of such numbers.
func (d *descent) float(way []Step) bool {
	typ := d.t.Strip(way[len(way)-1].Type)
	for d.t.Types[typ].Kind == Array {
		typ = d.t.Strip(d.t.Types[typ].Elem)
	}
	return d.t.Types[typ].Float
}

// reaches reports whether a use that begins in padding extends into a member.
func (d *descent) reaches(aggregate TypeNo, offset int64) bool {
	a := &d.t.Types[aggregate]
	for m := a.First; m < a.End(); m++ {
		if low, high := d.t.extent(&d.t.Members[m]); low < offset+int64(d.use.Size) && high > offset {
			return true
		}
	}
	return false
}

// aggregate strips qualifiers, typedefs and arrays from a type. It returns the aggregate that
// remains, and the offset in it; false if none remains.
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

// candidates returns the members of an aggregate that contain the byte at offset. If there are
// none, it returns the first bit field that begins later in the used bytes.
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

// extent returns the range of bytes, [low, high), that a member occupies in its aggregate.
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

// fit returns how well the use fits the scalar, or the array's element, at the end of a path. The
// use begins at offset in it.
func (d *descent) fit(s Step, offset int64) Fit {
	typ, array := d.t.Strip(s.Type), false
	total := d.t.Types[typ].Size * 8
	if s.Member != None {
		low, high := d.t.extent(&d.t.Members[s.Member])
		total = (high - low) * 8
	}
	for ; d.t.Types[typ].Kind == Array; array = true {
		typ = d.t.Strip(d.t.Types[typ].Elem)
	}
	x := &d.t.Types[typ]
	size, used := x.Size*8, int64(d.use.Size)*8
	if s.Member != None && d.t.Members[s.Member].Bits > 0 {
		size = int64(d.t.Members[s.Member].Bits)
		total = size
	}
	if size <= 0 || used == 0 {
		return FitPart
	}
	at := offset * 8
	inside := at % size
	switch {
	case d.use.Float && !x.Float, d.use.Float && !x.holdsFloat(inside/8, int64(d.use.Size)) && used <= size:
		return FitWrong
	case at+used > total, inside+used > size && !array:
		return FitBeyond
	case d.use.Float && (used != size || inside != 0):
		return FitPart
	case inside == 0 && used == size && x.Float == d.use.Float && !d.differs(x):
		return FitKind
	case inside == 0 && (used == size || d.use.Vector && used%size == 0):
		return FitSize
	case inside+used > size:
		return FitBeyond
	case d.use.Store && (x.Float || x.Kind == Pointer && x.Size <= 8): // these are never stored in parts
		return FitWrong
	}
	return FitPart
}

// differs reports whether one of the two is a pointer and the other a number: the value that the
// use stores, and type x.
func (d *descent) differs(x *Type) bool {
	return d.use.Kind != Void && (d.use.Kind == Pointer) != (x.Kind == Pointer || x.Kind == Reference)
}

// extended is the size in bytes of a number in x87's extended precision. Types for it are larger:
// they have padding.
const extended = 10

// holdsFloat reports whether a floating-point type has a number of this size at byte at. A complex
// type has two numbers.
func (x *Type) holdsFloat(at, size int64) bool {
	switch {
	case size == x.Size:
		return at == 0
	case x.Complex && size > 0:
		return at%(x.Size/2) == 0 && (size == x.Size/2 || size == extended && x.Size/2 > extended)
	}
	return at == 0 && size == extended && x.Size > extended
}
