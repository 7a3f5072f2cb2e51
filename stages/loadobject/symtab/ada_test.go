package symtab

import "testing"

func TestAdaName(t *testing.T) {
	for in, want := range map[string]string{
		"_ada_main":                      "main",
		"shapes__twice":                  "shapes.twice",
		"shapes__draw__2":                "shapes.draw",
		"main__outer__nested.4":          "main.outer.nested",
		"main__overloaded__2.6":          "main.overloaded",
		"main__tasks__workerTKB.10":      "main.tasks.worker",
		"main__tasks__workerTK__inner.3": "main.tasks.worker.inner",
		"shapes__Oeq__2":                 `shapes."="`,
		"shapes___elabb":                 "shapes'Elab_Body",
		"shapes__circleSR":               "shapes.circle'Read",
		"a_b__c1__d_2":                   "a_b.c1.d_2",
		"p__inner__2Xn":                  "p.inner",
	} {
		if got, ok := AdaName(in); got != want || !ok {
			t.Errorf("%s: got %q %t, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "_ada_", "Main", "a__", "a__B", "a__Ofoo", "shapes__circleIP", "_start", "a.b"} {
		if got, ok := AdaName(in); ok {
			t.Errorf("%s: got %q", in, got)
		}
	}
}
