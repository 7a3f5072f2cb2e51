package symbolize

import (
	"path"
	"regexp"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize/symtab"
)

// jvms are how the names of load objects begin that are a Java virtual machine.
var jvms = []string{"libjvm.so", "libj9vm"}

// runsJava reports whether a process has a Java virtual machine.
func (r *Resolver) runsJava(p *decode.Process) bool {
	known, ok := r.java[p]
	if !ok {
		for _, m := range p.Image {
			for _, name := range jvms {
				known = known || strings.HasPrefix(path.Base(m.Path), name)
			}
		}
		r.java[p] = known
	}
	return known
}

// method is how virtual machines and their agents name a compiled method in lists
// of generated code: `int java.lang.String.hashCode()` (DumpPerfMapAtExit),
// `Ljava/lang/String;::hashCode` (perf-map-agent, which may append the signature),
// `java.lang.String::hashCode`, `Ljava/lang/String;hashCode()I` (libperf-jvmti).
// Their stubs, adapters and interpreters are named in other ways.
var method = regexp.MustCompile(`^(\S+ [\w$./<>-]+\.[\w$<>-]+\(.*\)|L[\w$/.+-]+;(::)?[\w$<>-]+(\(.*\).*)?|[\w$/.]*[\w$]::[\w$<>-]+(\(.*\).*)?)$`)

// isMethod reports whether generated code of a Java virtual machine is a compiled
// method.
func isMethod(name string) bool { return method.MatchString(name) }

// versioned makes a compiled method of a list of generated code one of Java's, and
// finds the version of it that stands for all: the one at the lowest address (S14).
func (r *Resolver) versioned(n int32, f symtab.Function) {
	p := r.Program
	o := &p.Objects[p.Functions[n].Object]
	if !r.javaMaps[o.Path] || f.Kind != Dynamic || !isMethod(f.Linkage) {
		return
	}
	p.Functions[n].Kind = Java
	first := o.table.Functions[o.functionsNamed(f.Linkage)[0]]
	if first.Address != f.Address {
		p.versions[n] = r.tableFunction(p.Functions[n].Object, first)
	}
}

// methods tells a method of a dump of generated code, of which all versions are one.
type methods struct {
	module int32
	name   string
}

// dumped finds the version that stands for all of a compiled method in a dump of
// generated code: the one that was seen first.
func (r *Resolver) dumped(n int32) {
	f := &r.Program.Functions[n]
	k := methods{f.Module, f.Name}
	if first, known := r.methods[k]; !known {
		r.methods[k] = n
	} else if first != n {
		r.Program.versions[n] = first
	}
}

// Method returns a location as user mode shows it: an instruction of a version of
// a compiled method is one of the method (S14). It is false when there is one
// version only, or it is the one that stands for all.
func (r *Resolver) Method(location int32) (merged int32, ok bool) {
	p := r.Program
	l := p.Locations[location]
	main, ok := p.versions[l.Function]
	if !ok {
		return location, false
	}
	return p.location(main, l.Offset, l.Reason, func() (string, int32) { return l.File, l.Line }), true
}

// HasMethods reports whether any of a program's methods has several versions.
func (p *Program) HasMethods() bool { return len(p.versions) > 0 }
