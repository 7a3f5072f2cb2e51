package symbolize

import (
	"strings"

	"stackmill/schema"
	"stackmill/stages/program"
)

// The artificial functions (manual: Mapping Addresses to Program Structure).
const (
	UnknownName    = "<Unknown>"
	TruncatedStack = "<Truncated-stack>"
	FailedUnwind   = "<Stack-unwind-failed>"
	MissingCaller  = "<Missing-caller>"
	NoJavaStack    = "<no Java callstack recorded>"
	JVMSystem      = "<JVM-System>"
)

// artificialObject is the load object of the artificial functions.
const artificialObject = "<Artificial>"

// The reasons why a PC is in `<Unknown>` (S15).
const (
	ReasonNoObject      = "PC in no load object"
	ReasonNoImage       = "address space not recorded"
	ReasonData          = "PC in a data section"
	ReasonKernel        = "PC in the kernel, whose functions are not recorded"
	ReasonGenerated     = "generated code without information"
	ReasonProfile       = "function not known to the profile"
	ReasonUnknownMethod = "Java method not recorded"
)

// artificialObjects adds the load objects `<Total>` and `<Unknown>`, which every program has.
func (r *Resolver) artificialObjects() (total, unknown program.ObjectNo) {
	return r.addObject(pseudo(program.Total, "artificial", "none")), r.addObject(pseudo(UnknownName, "unknown", "none"))
}

// pseudo returns a load object that is not a file.
func pseudo(name, kind, symbols string) objectDraft {
	return objectDraft{Object: program.Object{ID: schema.NewID("object").Text(name).Sum(), Name: name, Path: name, Kind: kind, Symbols: symbols}}
}

// Artificial returns the location of the artificial function with this name. `<Total>` is the only
// function of the load object `<Total>`, whose row contains everything (S19).
func (r *Resolver) Artificial(name string) program.LocationNo {
	return r.Program.InternLocation(r.artificialFunction(name), 0, "", nil)
}

func (r *Resolver) artificialFunction(name string) program.FunctionNo {
	p, object := r.Program, r.total
	if name != program.Total {
		object = r.pseudoObject(artificialObject, "artificial", "none")
	}
	m := p.InternModule(object, unknownModule, "")
	return p.InternFunction(program.Function{Object: object, Module: m, Name: name, Kind: program.Artificial}, 0)
}

// unknown returns the location of a PC that belongs to no function.
func (r *Resolver) unknown(pc uint64, reason string) program.LocationNo {
	return r.unknownIn(r.unknownObject, pc, reason)
}

// unknownIn returns the location of a PC that is in a load object, but in none of its functions.
func (r *Resolver) unknownIn(object program.ObjectNo, pc uint64, reason string) program.LocationNo {
	p := r.Program
	m := p.InternModule(object, unknownModule, "")
	f := p.InternFunction(program.Function{Object: object, Module: m, Name: UnknownName, Kind: program.Unknown}, 0)
	return p.InternLocation(f, pc, reason, nil)
}

// counterFunctions are functions of the collector's library, without leading underscores: they are
// on the stacks of counts that the program's code did not cause (S20; manual: Functions Related to
// Hardware Counter Overflow Profiling). Only newer collectors have the last two.
var counterFunctions = map[string]bool{
	"collector_not_program_related":  true,
	"collector_hwcs_out_of_range":    true,
	"collector_hwcs_frozen":          true,
	"collector_hwc_ABORT":            true,
	"collector_record_counter":       true,
	"collector_hwc_samples_lost":     true,
	"collector_lost_profile_context": true,
}

// counterFunction returns the name of the artificial function that is shown for one of the
// counterFunctions, "" for other functions.
func counterFunction(linkage, object string) string {
	name := strings.TrimLeft(linkage, "_")
	if !counterFunctions[name] || !strings.HasPrefix(object, "libgp-collector.so") && !strings.HasPrefix(object, "libcollector.so") {
		return ""
	}
	return name
}
