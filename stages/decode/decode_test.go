package decode

import "testing"

// Problems name the files of a process relative to the recording, or the recording itself if
// processes have no files of their own.
func TestFile(t *testing.T) {
	for _, c := range []struct {
		process Process
		want    string
	}{
		{Process{}, "map.xml"},
		{Process{Lineage: "_f1"}, "_f1.er/map.xml"},
		{Process{Shared: true}, "."},
		{Process{Lineage: "_f1", Shared: true}, "."},
	} {
		if got := c.process.File(MapFile); got != c.want {
			t.Errorf("%+v: %s, want %s", c.process, got, c.want)
		}
	}
}
