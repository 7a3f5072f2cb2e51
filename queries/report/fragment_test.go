package report

import (
	"fmt"
	"testing"
)

func TestFragment(t *testing.T) {
	for list, want := range map[string]string{
		"f": `["f"]`, "main, f,g": `["main" "f" "g"]`, "f(int, char),g<a, b>": `["f(int, char)" "g<a, b>"]`,
		"operator,(A, B),f": `["operator,(A, B)" "f"]`, "A::operator->,f": `["A::operator->" "f"]`, "operator<<(A, B),f": `["operator<<(A, B)" "f"]`, "bool std::operator< <char, int>(A, B),f": `["bool std::operator< <char, int>(A, B)" "f"]`,
		"A::operator()(int, int) const,my_operator,f": `["A::operator()(int, int) const" "my_operator" "f"]`, "f,A::operator<=>": `["f" "A::operator<=>"]`,
		"main::{lambda(int, int)#1}": `["main::{lambda(int, int)#1}"]`,
	} {
		if got := fmt.Sprintf("%q", Fragment(list)); got != want {
			t.Errorf("%s: got %s, want %s", list, got, want)
		}
	}
}

func TestMetricsOf(t *testing.T) {
	known := []string{"cpu", "cpu/event=0x3c,umask=0x1/", "cycles", "cycles.samples", "totalcpu"}
	for list, want := range map[string]string{
		"cycles": "[cycles]", "cycles,totalcpu": "[cycles totalcpu]", "cycles.samples,cycles,cycles": "[cycles.samples cycles]",
		"cpu/event=0x3c,umask=0x1/,cpu": "[cpu/event=0x3c,umask=0x1/ cpu]", "cycles,none": "[]", "cycl": "[]", "cycles,": "[cycles]",
	} {
		if got, err := MetricsOf(known, list); fmt.Sprint(got) != want || (err == nil) == (want == "[]") {
			t.Errorf("%s: got %v (%v), want %s", list, got, err, want)
		}
	}
}
