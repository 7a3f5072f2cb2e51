package types

import (
	"errors"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/symtab"
)

// Append appends the table's encoding, which Decode reads: columns, in which sorted values
// are differences to the one before.
func (t *Table) Append(b []byte) []byte {
	e := encoder{columns.NewWriter()}
	e.types(t)
	e.Texts(t.Units)
	e.scopes(t)
	e.variables(t)
	e.Count(len(t.Returns))
	for _, r := range t.Returns {
		e.Text(r.Name)
		e.Count(int(r.Type))
	}
	e.Count(len(t.Notes))
	for _, n := range t.Notes {
		e.Int(n.Offset)
		e.Bool(n.Damage)
		e.Text(n.Text)
	}
	return e.Append(b)
}

type encoder struct{ *columns.Writer }

func (e encoder) types(t *Table) {
	e.Count(len(t.Types))
	e.Count(len(t.Members))
	for _, x := range t.Types {
		e.Count(int(x.Kind))
		e.Bool(x.Float)
		e.Bool(x.Complex)
		e.Text(x.Name)
		e.Count(int(x.Elem))
		e.Int(x.Size)
		e.Int(x.Count)
		e.Count(int(x.Unit))
		e.Count(int(x.Function))
		e.Count(int(x.First))
		e.Count(int(x.Members))
	}
	for _, m := range t.Members {
		e.Text(m.Name)
		e.Count(int(m.Type))
		e.Int(m.Offset)
		e.Count(int(m.Bit))
		e.Count(int(m.Bits))
		e.Bool(m.Base)
	}
}

func (e encoder) scopes(t *Table) {
	e.Count(len(t.Scopes))
	for _, s := range t.Scopes {
		e.Count(int(s.Parent))
		e.Count(int(s.Function))
		e.Text(s.Name)
		e.Bool(s.Linked)
		e.Count(int(s.Unit))
		e.Count(int(s.Type))
		e.Count(int(s.First))
		e.Count(int(s.Variables))
		e.places(s.FrameBase)
	}
	e.Count(len(t.Ranges))
	var last uint64
	for _, r := range t.Ranges {
		e.Uint(r.Low - last)
		e.Uint(r.High - r.Low)
		e.Count(int(r.Scope))
		last = r.Low
	}
}

func (e encoder) places(list []Place) {
	e.Count(len(list))
	for _, p := range list {
		e.Uint(p.Low)
		e.Uint(p.High - p.Low)
		e.Count(int(p.Kind))
		e.Int(int64(p.Register))
		e.Int(p.Offset)
		e.Int(p.Piece)
		e.Int(p.PieceSize)
	}
}

func (e encoder) variables(t *Table) {
	e.places(t.Places)
	e.Count(len(t.Variables))
	for _, v := range t.Variables {
		e.Text(v.Name)
		e.Count(int(v.Type))
		e.Count(int(v.Unit))
		e.Count(int(v.Function))
		e.Bool(v.External)
		e.Uint(v.Address)
		e.Int(v.Size)
		e.Count(int(v.First))
		e.Count(int(v.Places))
	}
	for _, list := range [][]VariableNo{t.Globals, t.Threads} {
		e.Count(len(list))
		for _, v := range list {
			e.Count(int(v))
		}
	}
}

// ErrEncoding is the error for bytes that Append did not write.
var ErrEncoding = errors.New("damaged table of types and variables")

// Decode reads an encoding. The table can be used without further checks.
func Decode(b []byte) (*Table, error) {
	d := decoder{columns.NewReader(b)}
	t := &Table{}
	d.types(t)
	t.Units = d.Texts()
	d.scopes(t)
	d.variables(t)
	t.Returns = columns.Slice[ReturnType](d.Count())
	for i := range t.Returns {
		t.Returns[i] = ReturnType{Name: d.Text(), Type: TypeNo(d.Below(len(t.Types)))}
	}
	t.Notes = columns.Slice[symtab.Note](d.Count())
	for i := range t.Notes {
		t.Notes[i] = symtab.Note{Offset: d.Int(), Damage: d.Bool(), Text: d.Text()}
	}
	if !d.Whole() || !t.valid() {
		return nil, ErrEncoding
	}
	t.Index()
	return t, nil
}

// valid checks the numbers that refer to later columns.
func (t *Table) valid() bool {
	if len(t.Types) == 0 || len(t.Units) == 0 || len(t.Scopes) == 0 || t.Types[0].Kind != Void {
		return false
	}
	for i := range t.Types {
		x := &t.Types[i]
		if int(x.Unit) >= len(t.Units) || int(x.Function) >= len(t.Scopes) {
			return false
		}
	}
	for i := range t.Scopes {
		s := &t.Scopes[i]
		if int(s.Unit) >= len(t.Units) || int(s.Function) >= len(t.Scopes) || int(s.First)+int(s.Variables) > len(t.Variables) {
			return false
		}
	}
	return true
}

type decoder struct{ *columns.Reader }

// number reads a number that is checked later.
func (d decoder) number() int32 { return d.Below(1 << 30) }

func (d decoder) types(t *Table) {
	types, members := d.Count(), d.Count()
	t.Types, t.Members = columns.Slice[Type](types), columns.Slice[Member](members)
	for i := range t.Types {
		x := &t.Types[i]
		x.Kind, x.Float, x.Complex, x.Name = Kind(d.Below(int(Unspecified)+1)), d.Bool(), d.Bool(), d.Text()
		x.Elem = TypeNo(d.Below(max(i, 1))) // or else a type could consist of itself
		x.Size, x.Count = d.Int(), d.Int()
		x.Unit, x.Function = UnitNo(d.number()), ScopeNo(d.number())
		x.First = MemberNo(d.Below(members + 1))
		x.Members = d.Below(members - int(x.First) + 1)
	}
	for i := range t.Members {
		t.Members[i] = Member{Name: d.Text(), Type: TypeNo(d.Below(types)), Offset: d.Int(), Bit: d.number(), Bits: d.number(), Base: d.Bool()}
	}
}

func (d decoder) scopes(t *Table) {
	t.Scopes = columns.Slice[Scope](d.Count())
	for i := range t.Scopes {
		s := &t.Scopes[i]
		s.Parent, s.Function = ScopeNo(d.Below(max(i, 1))), ScopeNo(d.number())
		s.Name, s.Linked = d.Text(), d.Bool()
		s.Unit, s.Type = UnitNo(d.number()), TypeNo(d.Below(len(t.Types)))
		s.First, s.Variables = VariableNo(d.number()), d.number()
		s.FrameBase = d.places()
	}
	t.Ranges = columns.Slice[Range](d.Count())
	var last uint64
	for i := range t.Ranges {
		low := last + d.Uint()
		t.Ranges[i] = Range{Low: low, High: low + d.Uint(), Scope: ScopeNo(d.Below(len(t.Scopes)))}
		last = low
	}
}

func (d decoder) places() []Place {
	list := columns.Slice[Place](d.Count())
	for i := range list {
		p := &list[i]
		p.Low = d.Uint()
		p.High = p.Low + d.Uint()
		p.Kind, p.Register = PlaceKind(d.Below(int(EntryRegister)+1)), int16(d.Int())
		p.Offset, p.Piece, p.PieceSize = d.Int(), d.Int(), d.Int()
	}
	return list
}

func (d decoder) variables(t *Table) {
	t.Places = d.places()
	t.Variables = columns.Slice[Variable](d.Count())
	for i := range t.Variables {
		v := &t.Variables[i]
		v.Name, v.Type, v.Unit = d.Text(), TypeNo(d.Below(len(t.Types))), UnitNo(d.Below(len(t.Units)))
		v.Function, v.External = ScopeNo(d.Below(len(t.Scopes))), d.Bool()
		v.Address, v.Size = d.Uint(), d.Int()
		v.First = d.Below(len(t.Places) + 1)
		v.Places = d.Below(len(t.Places) - int(v.First) + 1)
	}
	for _, list := range []*[]VariableNo{&t.Globals, &t.Threads} {
		*list = columns.Slice[VariableNo](d.Count())
		for i := range *list {
			(*list)[i] = VariableNo(d.Below(len(t.Variables)))
		}
	}
}
