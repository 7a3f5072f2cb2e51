package symbolize

import (
	"path"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/internal/memo"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// jvmPrefixes are the prefixes of the names of Java virtual machines' load objects.
var jvmPrefixes = []string{"libjvm.so", "libj9vm"}

// runsJava reports whether a process has a Java virtual machine.
func (r *Resolver) runsJava(p *decode.Process) bool {
	return memo.Get(r.java, p, func() bool {
		return slices.ContainsFunc(p.Mappings, func(m decode.MapEvent) bool {
			return slices.ContainsFunc(jvmPrefixes, func(name string) bool { return strings.HasPrefix(path.Base(m.Path), name) })
		})
	})
}

// methodName matches the names of compiled methods in lists of generated code, as virtual
// machines and their agents write them: `int java.lang.String.hashCode()` (DumpPerfMapAtExit),
// `Ljava/lang/String;::hashCode` (perf-map-agent, which may append the signature),
// `java.lang.String::hashCode`, `Ljava/lang/String;hashCode()I` (libperf-jvmti). It does not
// match the names of stubs, adapters and interpreters.
var methodName = lazyregexp.New(`^(\S+ [\w$./<>-]+\.[\w$<>-]+\(.*\)|L[\w$/.+-]+;(::)?[\w$<>-]+(\(.*\).*)?|[\w$/.]*[\w$]::[\w$<>-]+(\(.*\).*)?)$`)

// isMethod reports whether the name of generated code is a compiled method's.
func isMethod(name string) bool { return methodName().MatchString(name) }

// addVersion records that generated code is a version of a compiled method. User mode shows the
// method instead: a function of kind java without code (S14). Other modes show the versions,
// which have the same name and different addresses.
func (r *Resolver) addVersion(n program.FunctionNo) {
	p := r.Program
	f := p.Functions[n]
	if f.Kind == program.Dynamic && isMethod(f.Linkage) {
		r.versions[n] = p.InternFunction(program.Function{Object: f.Object, Module: f.Module, Name: f.Name, Linkage: f.Linkage, Aliases: f.Aliases, Kind: program.Java, Scope: funcinfo.ModuleScope}, 0)
		p.Functions[n].Scope = funcinfo.BuildScope
	}
}

// Method returns the location that user mode shows for an instruction of a version of a compiled
// method: one of the method (S14). It returns false for other code.
func (r *Resolver) Method(location program.LocationNo) (merged program.LocationNo, ok bool) {
	p := r.Program
	l := p.Location(location)
	main, ok := r.versions[l.Function]
	if !ok {
		return location, false
	}
	return p.InternLocation(main, l.Offset, l.Reason, func() funcinfo.Place { return l.Place }), true
}

// HasMethods reports whether the program has compiled methods.
func (r *Resolver) HasMethods() bool { return len(r.versions) > 0 }
