package queries

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"stackmill/schema/storedir"
)

func TestClosest(t *testing.T) {
	known := []string{"totalcpu", "heapallocbytes", "heapalloccnt", "ioreadbytes"}
	for name, want := range map[string]string{
		"totlcpu": "[totalcpu]", "alloc": "[heapallocbytes heapalloccnt]", "TOTALCPU": "[totalcpu]", "xyz": "[]", "": "[totalcpu heapallocbytes heapalloccnt ioreadbytes]",
	} {
		if got := fmt.Sprint(closest(name, known)); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestMatchingExperiments(t *testing.T) {
	unique := []string{"monday/x.er", "tuesday/x.er", "y.er", "z.er@4", "a/b/w.er"}
	var experiments []Experiment
	for i, name := range unique {
		experiments = append(experiments, Experiment{Entry: storedir.Entry{ExperimentID: strconv.Itoa(i + 1)}, Name: name})
	}
	for name, want := range map[string]string{
		"x.er": "1 2", "x": "1 2", "monday/x.er": "1", "2": "2", "y": "3", "z.er": "4", "z": "4", "b/w.er": "5", "nothing": "", "er": "",
	} {
		var ids []string
		for _, i := range matching(experiments, name) {
			ids = append(ids, experiments[i].ExperimentID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
