package report

import (
	"fmt"
	"testing"
)

func TestFunctionsOf(t *testing.T) {
	known := []string{"f", "fact", "geo::work(double)", "geo::work(int)", "operator[]"}
	for pattern, want := range map[string]string{
		"f": "[f]", "ac": "[fact]", "geo::work(": "[geo::work(double) geo::work(int)]", "^geo.*int": "[geo::work(int)]", "operator[": "[operator[]]", "[": "[operator[]]", "none": "[]",
	} {
		if got := fmt.Sprint(namesOf(known, pattern)); got != want {
			t.Errorf("%q: got %s, want %s", pattern, got, want)
		}
	}
}
