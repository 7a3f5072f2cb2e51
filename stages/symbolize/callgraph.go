package symbolize

import (
	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// callGraph caches the destinations of calls and jumps, and the exits of functions. It is filled on
// demand.
type callGraph struct {
	destinations []destination
	numbers      map[destinationKey]destinationNo
	targets      []map[uint64]destinationNo // by load object and target address: where direct calls and jumps go
	exits        functionMap[exits]
	frameSetups  functionMap[frameSetup]
	scopes       map[string]*Scope                // by the numbers of their load objects
	imports      map[program.LocationNo][]Import  // location of a call -> result of Resolver.Imports
	threadStarts map[program.ObjectNo][]codeRange // for each load object: functions in which threads begin
	scratchCalls []directCall                     // memory that findExits reuses
	scratchJumps []exit
}

// entry identifies a function of a load object's symbol table by its start, an offset in the file.
type entry struct {
	object program.ObjectNo
	offset uint64
}

// destinationNo is the index of a destination in callGraph.destinations.
type destinationNo int32

// destinationKey identifies the destination of a direct call or jump. It is a function of the same
// load object or, through a slot of the global offset table, a function that the dynamic linker
// finds by name or that code of the load object chooses (IFUNC).
type destinationKey struct {
	entry             // the function, or an entry of the load object's procedure linkage table
	slot  symtab.Slot // zero for a function of the same load object, and for a PLT entry that cannot be decoded
	table bool        // through the procedure linkage table
}

// destination is where a call or jump goes, with the functions that it may reach.
type destination struct {
	destinationKey
	reachable *reachableSet // nil if it depends on the scope, or is not known yet
}

func newCallGraph() callGraph {
	return callGraph{numbers: map[destinationKey]destinationNo{}, scopes: map[string]*Scope{}, imports: map[program.LocationNo][]Import{}, threadStarts: map[program.ObjectNo][]codeRange{}}
}

func (g *callGraph) intern(k destinationKey) destinationNo {
	return memo.Get(g.numbers, k, func() destinationNo {
		g.destinations = append(g.destinations, destination{destinationKey: k})
		return destinationNo(len(g.destinations) - 1)
	})
}

// destination returns where a call or jump in a load object goes, or None if the instruction does
// not show it.
func (r *Resolver) destination(object program.ObjectNo, inst insn.Inst) destinationNo {
	t := r.loadObjects[object].table
	switch {
	case t == nil:
	case inst.HasSlot:
		if slot, ok := t.Slot(inst.Slot); ok {
			return r.graph.intern(destinationKey{entry{object: object}, slot, false})
		}
	case inst.HasTarget:
		return r.targetOf(object, inst.Target)
	}
	return program.None
}

// targetOf returns the destination of calls and jumps to an address in a load object.
func (r *Resolver) targetOf(object program.ObjectNo, address uint64) destinationNo {
	g := &r.graph
	for int(object) >= len(g.targets) {
		g.targets = append(g.targets, map[uint64]destinationNo{})
	}
	return memo.Get(g.targets[object], address, func() destinationNo {
		if k, ok := r.findTarget(object, address); ok {
			return g.intern(k)
		}
		return program.None
	})
}

func (r *Resolver) findTarget(object program.ObjectNo, address uint64) (k destinationKey, ok bool) {
	t := r.loadObjects[object].table
	offset, ok := r.addresses(object).Offset(address)
	if !ok {
		return k, false
	}
	stub, arch := r.Bytes(object, offset, maxStub)
	if at, isStub := disasm.StubSlot(arch, stub, address); isStub {
		if slot, ok := t.Slot(at); ok {
			return destinationKey{entry{object, offset}, slot, true}, true
		}
	}
	f, ok := t.Function(offset)
	if f.Kind == funcinfo.PLT {
		return destinationKey{entry: entry{object, offset}, table: true}, ok
	}
	return destinationKey{entry: entry{object, f.Offset}}, ok
}

// addresses returns the regions of a load object, sorted by address. The load object must have a
// symbol table.
func (r *Resolver) addresses(object program.ObjectNo) symtab.Addresses {
	return r.loadObjects[object].byAddress()
}
