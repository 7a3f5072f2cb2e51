package main

import (
	"fmt"
	"strings"
)

// target is what a function accesses: a leaf (a scalar or an array of scalars) of a structure.
type target struct {
	leaf
	s, x  *aggregate // the structure, and another structure
	other leaf       // another leaf of the same structure
	n     string     // name of the function to write
}

func (t *target) typ() string { return t.field.typ.c }
func (t *target) whole() string {
	return "{structure:" + t.s.name + "}" + t.descriptor
}

// op is a way to access a leaf. apply returns the text of a function that does so, and of a call of
// it. also are descriptors that are correct besides the leaf's. If the op cannot access the leaf,
// function is "".
type op struct {
	name  string
	apply func(g *generator, t *target) (function, call string, also []string)
}

func isScalar(t *target) bool { return len(t.dims) == 0 }
func isArray(t *target) bool  { return len(t.dims) == 1 && t.field.typ.number <= floating }
func plain(t *target) bool    { return isScalar(t) && t.field.bits == 0 }
func isNumber(t *target) bool { return isScalar(t) && t.field.typ.number <= floating }
func isInteger(t *target) bool {
	return isScalar(t) && t.field.typ.number == integer
}

// text returns an op that writes a function and a call from templates, for leaves that fit. In both
// templates, $S is the structure, $T the type of the leaf, $M its member, $N the name of the
// function, $X the other structure, P an object and Q another object.
func text(name string, fits func(*target) bool, function, call string, also ...string) op {
	return op{name, func(g *generator, t *target) (string, string, []string) {
		if !fits(t) {
			return "", "", nil
		}
		r := strings.NewReplacer("$S", "struct "+t.s.name, "$T", t.typ(), "$M", t.member, "$N", t.n, "$X", "struct "+t.x.name, "$D", t.field.typ.descriptor, "$C", fmt.Sprint(append(t.dims, 1)[0]))
		var more []string
		for _, d := range also {
			more = append(more, r.Replace(d))
		}
		if strings.Contains(function, "char *b") && t.field.bits == 0 && (strings.HasSuffix(t.typ(), "char") || t.typ() == "bool") { // an access through b may show as {char -}
			more = append(more, "{char -}")
		}
		return r.Replace(function), r.Replace(call), more
	}}
}

var ops = []op{
	text("set", isScalar, "void $N($S *p, $T v) { p->$M = v; }", "$N(P, VALUE($T))"),
	text("get", isScalar, "$T $N($S *p) { return p->$M; }", "use($N(P))"),
	text("add", isNumber, "void $N($S *p, $T v) { p->$M += v; }", "$N(P, VALUE($T))"),
	text("scale", isNumber, "void $N($S *p) { p->$M *= 3; }", "$N(P)"),
	text("count", isInteger, "void $N($S *p) { p->$M++; }", "$N(P)"),
	text("or", isInteger, "void $N($S *p, int v) { p->$M |= v; }", "$N(P, one)"),
	text("fix", isNumber, "void $N($S *p) { p->$M = 1; }", "$N(P)"),
	text("clear", isNumber, "void $N($S *p) { p->$M = 0; }", "$N(P)"),
	text("fill", isScalar, "void $N($S *p, int n, $T v) { for (int i = 0; i < n; i++) p[i].$M = v; }", "$N(P, 3 * one, VALUE($T))"),
	text("number", isNumber, "void $N($S *p, int n) { for (int i = 0; i < n; i++) p[i].$M = i; }", "$N(P, 3 * one)"),
	text("walk", isNumber, "void $N($S *p, $S *end) { for (; p < end; p++) p->$M += 2; }", "$N(P, P + 3 * one)"),
	text("back", isNumber, "void $N($S *p, int n) { for (int i = n - 1; i >= 0; i--) p[i].$M += 2; }", "$N(P, 3 * one)"),
	text("index", isScalar, "$T $N($S *p, int i) { return p[i].$M; }", "use($N(P, 2 * one))"),
	text("unsigned", isScalar, "void $N($S *p, unsigned i, $T v) { p[i].$M = v; }", "$N(P, 2 * one, VALUE($T))"),
	text("sum", isNumber, "double $N($S *p, int n) { $T s = 0; for (int i = 0; i < n; i++) s += p[i].$M; return s; }", "use($N(P, 4 * one))"),
	text("copy", isScalar, "void $N($S *p, $S *q) { p->$M = q->$M; }", "$N(P, Q)"),
	text("through", plain, "void $N($S *p, $T v) { $T *q = &p->$M; *q = v; p = 0; }", "$N(P, VALUE($T))", "{$D -}"),
	text("bytes", plain, "void $N(char *b, int n, $T v) { for (int i = 0; i < n; i++) (($S *)(b + i * sizeof($S)))->$M = v; }", "$N((char *)P, 3 * one, VALUE($T))"),
	text("far", plain, "void $N(char *b, int n, $T v) { for (int i = 0; i < n; i++) { $S *p = ($S *)(b + i * sizeof($S)); p->$M = v; } }", "$N((char *)P, 3 * one, VALUE($T))"),
	text("void", isScalar, "void $N(void *v, $T x) { $S *p = ($S *)v; p->$M = x; }", "$N(P, VALUE($T))"),
	text("test", isScalar, "int $N($S *p) { return p->$M != ($T)0 ? 3 : 5; }", "use($N(P))"),
	text("byte", plain, "int $N($S *p) { return ((unsigned char *)&p->$M)[sizeof p->$M - 1]; }", "use($N(P))"),
	text("low", isInteger, "int $N($S *p) { return (signed char)p->$M; }", "use($N(P))"),
	text("high", isInteger, "int $N($S *p) { return (p->$M >> 3) & 3; }", "use($N(P))"),
	text("flag", isInteger, "int $N($S *p) { return (p->$M & 0x10) != 0; }", "use($N(P))"),
	text("less", isNumber, "int $N($S *p, $T v) { return p->$M < v; }", "use($N(P, VALUE($T)))"),
	text("same", isNumber, "int $N($S *p, $S *q) { return p->$M == q->$M; }", "use($N(P, Q))"),
	text("before", isScalar, "$T $N($S *p) { return p[-1].$M; }", "use($N(P + 1))"),
	text("after", isScalar, "void $N($S *p, $T v) { p[1].$M = v; }", "$N(P, VALUE($T))"),
	text("around", isNumber, "void $N($S *p, int n) { for (int i = 1; i < n; i++) p[i].$M = p[i - 1].$M + 1; }", "$N(P, 4 * one)"),
	text("list", isScalar, "$T $N($S **pp, int i) { return pp[i]->$M; }", "{ $S *pp[] = {P, P + 1}; use($N(pp, one)); }"),
	text("held", isScalar, "struct h_$N { long pad; $S *p; };\nvoid $N(struct h_$N *h, $T v) { h->p->$M = v; }", "{ struct h_$N h = {0, P}; $N(&h, VALUE($T)); }"),
	text("heldloop", isNumber, "struct h_$N { long pad; $S *p; int n; };\nvoid $N(struct h_$N *h) { for (int i = 0; i < h->n; i++) h->p[i].$M = i; }", "{ struct h_$N h = {0, P, 3 * one}; $N(&h); }"),
	text("union", plain, "void $N(char *b, int n, $T v) { union { $X *x; $S *s; void *v; } u; for (int i = 0; i < n; i++) { u.v = b + sizeof($S) * i; u.s->$M = v; } }", "$N((char *)P, 2 * one, VALUE($T))"),
	text("unionpass", isScalar, "union u_$N { $X *x; $S *s; };\nvoid $N(union u_$N u, $T v) { u.s->$M = v; }", "{ union u_$N u; u.s = P; $N(u, VALUE($T)); }"),
	text("unionheld", isScalar, "struct h_$N { int tag; union { $X *x; $S *s; } u; };\n$T $N(struct h_$N *h) { return h->u.s->$M; }", "{ struct h_$N h; h.u.s = P; use($N(&h)); }"),
	text("cast", isScalar, "void $N(void *v, $T x) { $X *o = ($X *)v; $S *p = ($S *)v; if (!o) return; p->$M = x; }", "$N(P, VALUE($T))"),
	text("move", plain, "void $N($S *p, void *to) { memcpy(to, &p->$M, sizeof p->$M); }", "{ char to[64]; $N(P, to); }"),
	text("blank", plain, "void $N($S *p) { memset(&p->$M, 0, sizeof p->$M); }", "$N(P)"),
	text("global", isScalar, "$S *g_$N;\n$T $N(void) { return g_$N->$M; }", "g_$N = P; use($N())"),
	text("made", isScalar, "APART $S *make_$N(void *v) { return ($S *)v; }\nvoid $N(void *v, $T x) { make_$N(v)->$M = x; }", "$N(P, VALUE($T))"),
	text("volatile", plain, "void $N(volatile $S *p) { p->$M = p->$M; }", "$N(P)"),
	text("call", isScalar, "APART void sink_$N($T v) { (void)v; __asm__ volatile(\"\"); }\nvoid $N($S *p) { sink_$N(p->$M); }", "$N(P)"),
	text("late", isNumber, "void $N($S *p, int n) { $T v = 0; while (n-- > 0) { v += n; p++; } p->$M = v; }", "$N(P, one)"),
	text("choose", isScalar, "$T $N($S *p, $S *q, int c) { $S *o = c ? p : q; return o->$M; }", "use($N(P, Q, one))"),
	text("inline", isNumber, "static inline void in_$N($S *q, $T v) { q->$M += v; }\nvoid $N($S *p, int n) { for (int i = 0; i < n; i++) in_$N(p + i, i); }", "$N(P, 3 * one)"),

	text("all", isArray, "void $N($S *p) { for (int i = 0; i < $C; i++) p->$M[i] = i; }", "$N(P)"),
	text("total", isArray, "double $N($S *p) { $T s = 0; for (int i = 0; i < $C; i++) s += p->$M[i]; return s; }", "use($N(P))"),
	text("nth", isArray, "$T $N($S *p, int i) { return p->$M[i]; }", "use($N(P, one - 1))"),
	text("nthset", isArray, "void $N($S *p, long i, $T v) { p->$M[i] = v; }", "$N(P, one - 1, VALUE($T))"),
	text("last", isArray, "void $N($S *p, $T v) { p->$M[$C - 1] = v; }", "$N(P, VALUE($T))"),
	text("less1", isArray, "void $N($S *p, int n) { for (int i = 1; i <= n; i++) p->$M[i - 1] = i; }", "$N(P, $C * one)"),
	text("plus1", isArray, "void $N($S *p, int n) { for (int i = -1; i < n - 1; i++) p->$M[i + 1] = i; }", "$N(P, $C * one)"),
	text("down", isArray, "void $N($S *p, int n) { while (n > 0) p->$M[--n] = n; }", "$N(P, $C * one)"),
	text("pairs", isArray, "void $N($S *p, int n) { for (int i = 1; i < n; i++) p->$M[i] += p->$M[i - 1]; }", "$N(P, $C * one)"),
	text("walked", isArray, "void $N($S *p) { for ($T *q = p->$M; q < p->$M + $C; q++) *q += 1; }", "$N(P)", "{$D -}"),
	text("rows", isArray, "void $N($S *p, int n) { for (int j = 0; j < n; j++) for (int i = 0; i < $C; i++) p[j].$M[i] = i; }", "$N(P, 2 * one)"),
	text("row", isArray, "$T $N($S *p, int j, int i) { return p[j].$M[i]; }", "use($N(P, one, 0 * one))"),
	text("clearall", isArray, "void $N($S *p) { memset(p->$M, 0, sizeof p->$M); }", "$N(P)"),
	text("take", isArray, "void $N($S *p, $S *q) { memcpy(p->$M, q->$M, sizeof p->$M); }", "$N(P, Q)"),
	text("search", isArray, "int $N($S *p, $T v) { for (int i = 0; i < $C; i++) if (p->$M[i] == v) return i; return -1; }", "use($N(P, VALUE($T)))"),

	{"inner", inInner("void $N($I *q, $T v) { q->$R = v; }", "$N(&P->$A, VALUE($T))")},
	{"innerof", inInner("void $N($S *p, $T v) { $I *q = &p->$A; q->$R = v; }", "$N(P, VALUE($T))")},
	{"container", inInner("$T $N($I *q) { $S *p = ($S *)((char *)q - __builtin_offsetof($S, $A)); return p->$M; }", "use($N(&P->$A))")},
	{"outside", func(g *generator, t *target) (string, string, []string) {
		for _, l := range g.leaves(t.s, leaf{}) {
			if len(l.inners) > 0 && isScalar(t) && len(t.inners) == 0 {
				r := strings.NewReplacer("$S", "struct "+t.s.name, "$I", "struct "+l.inners[0].typ.name, "$T", t.typ(), "$M", t.member, "$A", l.inners[0].path, "$N", t.n)
				return r.Replace("$T $N($I *q) { return (($S *)((char *)q - __builtin_offsetof($S, $A)))->$M; }"), r.Replace("use($N(&P->$A))"), nil
			}
		}
		return "", "", nil
	}},
	{"either", func(g *generator, t *target) (string, string, []string) {
		if !plain(t) || t.other.field == nil {
			return "", "", nil
		}
		r := strings.NewReplacer("$S", "struct "+t.s.name, "$T", t.typ(), "$M", t.member, "$O", t.other.member, "$N", t.n)
		return r.Replace("void $N($S *p, int c, $T v) { $T *q = c ? &p->$M : &p->$O; *q = v; }"), r.Replace("$N(P, one, VALUE($T)); $N(P, 0 * one, VALUE($T))"),
			[]string{"{structure:" + t.s.name + "}" + t.other.descriptor, "{" + t.field.typ.descriptor + " -}"}
	}},
	{"both", func(g *generator, t *target) (string, string, []string) {
		if !isNumber(t) || t.other.field == nil {
			return "", "", nil
		}
		r := strings.NewReplacer("$S", "struct "+t.s.name, "$T", t.typ(), "$M", t.member, "$O", t.other.member, "$N", t.n)
		return r.Replace("double $N($S *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i].$M * p[i].$O; return s; }"), r.Replace("use($N(P, 3 * one))"),
			[]string{"{structure:" + t.s.name + "}" + t.other.descriptor}
	}},
}

// inInner is like text, for leaves in a named inner structure. $I is the type of that structure, $A
// its path in the outer one, and $R the path of the leaf in it.
func inInner(function, call string) func(g *generator, t *target) (string, string, []string) {
	return func(g *generator, t *target) (string, string, []string) {
		if !isScalar(t) || len(t.inners) == 0 {
			return "", "", nil
		}
		in := t.inners[g.IntN(len(t.inners))]
		r := strings.NewReplacer("$S", "struct "+t.s.name, "$I", in.typ.word()+" "+in.typ.name, "$T", t.typ(), "$M", t.member, "$A", in.path, "$R", in.rest, "$N", t.n)
		at := strings.Index(t.descriptor, in.descriptor)
		return r.Replace(function), r.Replace(call), []string{t.descriptor[at:]}
	}
}
