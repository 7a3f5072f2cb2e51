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

const javaObject = "<JAVA_CLASSES>"

// JavaFrame returns the location of a frame of a Java stack. A method ID of 0 means that no Java
// stack was recorded.
func (r *Resolver) JavaFrame(p *decode.Process, f decode.JavaFrame) program.LocationNo {
	if f.Method == 0 {
		return r.Artificial(NoJavaStack)
	}
	m, ok := p.JavaMethods[f.Method]
	if !ok {
		return r.unknown(f.Method, ReasonUnknownMethod)
	}
	return r.javaMethod(m, uint64(uint32(f.BCI)))
}

func (r *Resolver) compiledMethod(p *decode.Process, method, offset, pc uint64) program.LocationNo {
	m, ok := p.JavaMethods[method]
	if !ok {
		return r.unknown(pc, ReasonUnknownMethod)
	}
	return r.javaMethod(m, offset)
}

func (r *Resolver) javaMethod(m decode.JavaMethod, offset uint64) program.LocationNo {
	p := r.Program
	o := r.pseudoObject(javaObject, "java", "recording")
	module := m.File
	if module == "" {
		module = m.Class
	}
	linkage := m.Class + "." + m.Name + m.Signature
	f := program.Function{
		Object: o, Module: p.InternModule(o, module, "Java"), Kind: program.Java, Scope: funcinfo.ModuleScope,
		Name: m.Class + "." + m.Name + javaParameters(m.Signature), Linkage: linkage, Aliases: linkage,
	}
	return p.InternLocation(p.InternFunction(f, 0), offset, "", nil)
}

// javaParameters turns a JVM method signature such as `(I[Ljava/lang/String;)V` into
// `(int, java.lang.String[])`. It returns other strings unchanged.
func javaParameters(sig string) string {
	s, ok := strings.CutPrefix(sig, "(")
	if !ok {
		return sig
	}
	var params []string
	for s != "" && s[0] != ')' {
		dims := 0
		for dims < len(s) && s[dims] == '[' {
			dims++
		}
		s = s[dims:]
		name, rest, ok := javaType(s)
		if !ok {
			return sig
		}
		params = append(params, name+strings.Repeat("[]", dims))
		s = rest
	}
	return "(" + strings.Join(params, ", ") + ")"
}

func javaType(s string) (name, rest string, ok bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] == 'L' {
		class, rest, ok := strings.Cut(s[1:], ";")
		return strings.ReplaceAll(class, "/", "."), rest, ok
	}
	name, ok = map[byte]string{'B': "byte", 'C': "char", 'D': "double", 'F': "float",
		'I': "int", 'J': "long", 'S': "short", 'Z': "boolean"}[s[0]]
	return name, s[1:], ok
}

// jvmPrefixes are the prefixes of the file names of Java virtual machines.
var jvmPrefixes = []string{"libjvm.so", "libj9vm"}

// runsJava reports whether a process has mapped a Java virtual machine.
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

// isMethod reports whether a function of generated code has the name of a compiled Java method.
func isMethod(name string) bool { return methodName().MatchString(name) }

// addVersion records that function n is code that was compiled from a Java method. In place of all
// versions, user mode shows the method: a function of kind java without code (S14). Other modes
// show the versions, which have the same name and different addresses.
func (r *Resolver) addVersion(n program.FunctionNo) {
	p := r.Program
	f := p.Functions[n]
	if f.Kind == program.Dynamic && isMethod(f.Linkage) {
		r.versions[n] = p.InternFunction(program.Function{Object: f.Object, Module: f.Module, Name: f.Name, Linkage: f.Linkage, Aliases: f.Aliases, Kind: program.Java, Scope: funcinfo.ModuleScope}, 0)
		p.Functions[n].Scope = funcinfo.BuildScope
	}
}

// Method returns the location in a Java method that user mode shows for a location in one of its
// compiled versions (S14). It returns false for other code.
func (r *Resolver) Method(location program.LocationNo) (merged program.LocationNo, ok bool) {
	p := r.Program
	l := p.Location(location)
	main, ok := r.versions[l.Function]
	if !ok {
		return location, false
	}
	return p.InternLocation(main, l.Offset, l.Reason, func() funcinfo.Place { return l.Place }), true
}

// HasMethods reports whether any function is a compiled version of a Java method.
func (r *Resolver) HasMethods() bool { return len(r.versions) > 0 }
