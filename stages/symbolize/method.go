package symbolize

import (
	"path"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

// jvmPrefixes are how the names of Java virtual machines' load objects begin.
var jvmPrefixes = []string{"libjvm.so", "libj9vm"}

// runsJava reports whether a process has a Java virtual machine.
func (r *Resolver) runsJava(p *decode.Process) bool {
	known, ok := r.java[p]
	if !ok {
		for _, m := range p.Image {
			for _, name := range jvmPrefixes {
				known = known || strings.HasPrefix(path.Base(m.Path), name)
			}
		}
		r.java[p] = known
	}
	return known
}

// methodName is how virtual machines and their agents name a compiled method in lists
// of generated code: `int java.lang.String.hashCode()` (DumpPerfMapAtExit),
// `Ljava/lang/String;::hashCode` (perf-map-agent, which may append the signature),
// `java.lang.String::hashCode`, `Ljava/lang/String;hashCode()I` (libperf-jvmti).
// Their stubs, adapters and interpreters are named in other ways.
var methodName = lazyregexp.New(`^(\S+ [\w$./<>-]+\.[\w$<>-]+\(.*\)|L[\w$/.+-]+;(::)?[\w$<>-]+(\(.*\).*)?|[\w$/.]*[\w$]::[\w$<>-]+(\(.*\).*)?)$`)

// isMethod reports whether generated code of a Java virtual machine is a compiled
// method.
func isMethod(name string) bool { return methodName().MatchString(name) }

// addVersion takes note that a piece of generated code is a version of a compiled
// method: user mode shows it as the method, a function of its own, of kind java, that
// has no code (S14). A method has one name in all its versions, which only their places
// tell apart. The versions stay what they are.
func (r *Resolver) addVersion(n program.FunctionNo) {
	p := r.Program
	f := p.Functions[n]
	if f.Kind == program.Dynamic && isMethod(f.Linkage) {
		r.versions[n] = p.InternFunction(program.Function{Object: f.Object, Module: f.Module, Name: f.Name, Linkage: f.Linkage, Aliases: f.Aliases, Kind: program.Java, Scope: funcinfo.ModuleScope}, 0)
		p.Functions[n].Scope = funcinfo.BuildScope
	}
}

// Method returns a location as user mode shows it: an instruction of a version of
// a compiled method is one of the method (S14). It is false for other code.
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
