package symbolize

import (
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
)

const javaObject = "<JAVA_CLASSES>"

// JavaFrame returns the location of a frame of a Java stack. A method id of 0 means that the JVM
// had no stack.
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
