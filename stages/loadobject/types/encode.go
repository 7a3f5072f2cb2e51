package types

import (
	"errors"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/symtab"
)

// Append appends the table's encoding, which Decode reads. It has columns; sorted values are stored
// as differences.
func (t *Table) Append(b []byte) []byte {
	w := columns.NewWriter()
	t.code(w.Coder())
	return w.Append(b)
}

// ErrEncoding is Decode's error for damaged bytes.
var ErrEncoding = errors.New("damaged table of types and variables")

// Decode reads and validates an encoding.
func Decode(b []byte) (*Table, error) {
	r, t := columns.NewReader(b), &Table{}
	t.code(r.Coder())
	if !r.Whole() || !t.valid() {
		return nil, ErrEncoding
	}
	t.Index()
	return t, nil
}

// anyIndex bounds an index into a list that is decoded later; valid then checks the index.
const anyIndex = 1 << 30

func (t *Table) code(c columns.Coder) {
	t.codeTypes(c)
	c.Texts(&t.Units)
	t.codeScopes(c)
	t.codeVariables(c)
	columns.List(c, &t.Returns, func(_ int, r *ReturnType) {
		c.Text(&r.Name)
		columns.Below(c, len(t.Types), &r.Type)
	})
	columns.List(c, &t.Notes, func(_ int, n *symtab.Note) {
		c.Int(&n.Offset)
		c.Bool(&n.Damage)
		c.Text(&n.Text)
	})
}

func (t *Table) codeTypes(c columns.Coder) {
	columns.Length(c, &t.Types)
	columns.Length(c, &t.Members)
	members := len(t.Members)
	for i := range t.Types {
		x := &t.Types[i]
		columns.Below(c, int(Unspecified)+1, &x.Kind)
		c.Bool(&x.Float, &x.Complex)
		c.Text(&x.Name)
		columns.Below(c, max(i, 1), &x.Elem) // so that no type contains itself
		c.Int(&x.Size, &x.Count)
		columns.Below(c, anyIndex, &x.Unit)
		columns.Below(c, anyIndex, &x.Function)
		columns.Below(c, members+1, &x.First)
		columns.Below(c, members-int(x.First)+1, &x.Members)
	}
	for i := range t.Members {
		m := &t.Members[i]
		c.Text(&m.Name)
		columns.Below(c, len(t.Types), &m.Type)
		c.Int(&m.Offset)
		columns.Below(c, anyIndex, &m.Bit, &m.Bits)
		c.Bool(&m.Base)
	}
}

func (t *Table) codeScopes(c columns.Coder) {
	columns.List(c, &t.Scopes, func(i int, s *Scope) {
		columns.Below(c, max(i, 1), &s.Parent)
		columns.Below(c, anyIndex, &s.Function)
		c.Text(&s.Name)
		c.Bool(&s.Linked)
		columns.Below(c, anyIndex, &s.Unit)
		columns.Below(c, len(t.Types), &s.Type)
		columns.Below(c, anyIndex, &s.First)
		columns.Below(c, anyIndex, &s.Variables)
		codePlaces(c, &s.FrameBase)
	})
	var last uint64
	columns.List(c, &t.Ranges, func(_ int, r *Range) {
		c.From(last, &r.Low)
		c.From(r.Low, &r.High)
		columns.Below(c, len(t.Scopes), &r.Scope)
		last = r.Low
	})
}

func codePlaces(c columns.Coder, list *[]Place) {
	columns.List(c, list, func(_ int, p *Place) {
		c.Uint(&p.Low)
		c.From(p.Low, &p.High)
		columns.Below(c, int(EntryRegister)+1, &p.Kind)
		c.Int16(&p.Register)
		c.Int(&p.Offset, &p.Piece, &p.PieceSize)
	})
}

func (t *Table) codeVariables(c columns.Coder) {
	codePlaces(c, &t.Places)
	columns.List(c, &t.Variables, func(_ int, v *Variable) {
		c.Text(&v.Name)
		columns.Below(c, len(t.Types), &v.Type)
		columns.Below(c, len(t.Units), &v.Unit)
		columns.Below(c, len(t.Scopes), &v.Function)
		c.Bool(&v.External)
		c.Uint(&v.Address)
		c.Int(&v.Size)
		columns.Below(c, len(t.Places)+1, &v.First)
		columns.Below(c, len(t.Places)-int(v.First)+1, &v.Places)
	})
	for _, list := range []*[]VariableNo{&t.Globals, &t.Threads} {
		columns.List(c, list, func(_ int, v *VariableNo) { columns.Below(c, len(t.Variables), v) })
	}
}

// valid checks the indexes into lists that were decoded later.
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
