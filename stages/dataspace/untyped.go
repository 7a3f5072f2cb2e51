package dataspace

import (
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
)

// untypedVariables returns the variables in the load object's symbol tables, which have no types.
func (o *loadObject) untypedVariables() *symtab.Variables {
	if o.variables != nil {
		return o.variables
	}
	s := o.space
	v, err := s.tables.Variables(o.resolver.ObjectFile(o.number))
	if v != nil {
		err = v.Damage
	} else {
		v = &symtab.Variables{}
	}
	if err != nil && !o.resolver.Faulted(err) {
		s.problem(o.resolver.Program.Objects[o.number].Path, "symbols of data", err)
	}
	o.variables = v
	return v
}

// symbolAt returns the number of the symbol at a link-time address, or None.
func (o *loadObject) symbolAt(at uint64) symbolNo {
	if i, ok := o.untypedVariables().At(at); ok {
		return symbolNo(i)
	}
	return program.None
}

// maxScalar is the size of the largest scalar, bytes.
const maxScalar = 16

// symbolObject returns the data object of a symbol. Its type is unknown; by its size, it is a scalar
// or an aggregate.
func (s *Space) symbolObject(o *loadObject, n symbolNo) ObjectNo {
	x := &o.untypedVariables().List[n]
	k := objectKey{parent: Scalars, load: o.number, member: types.None, scopeKind: ScopeLoadObject,
		scope: s.resolver.Program.Objects[o.number].Name, descriptor: "{- " + x.Name + "}"}
	kind := KindScalar
	if x.Size > maxScalar {
		kind, k.parent = KindAggregate, Total
	}
	number, _ := s.intern(k, func() Object {
		return Object{Kind: kind, Name: x.Name, Type: "-", Offset: -1, Size: int64(x.Size), ElementSize: int64(x.Size)}
	})
	return number
}
