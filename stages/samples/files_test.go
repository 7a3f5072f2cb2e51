package samples

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	type call struct {
		op, fd, orig int32
		name         string
		want         int32
	}
	const other = unnamedFile
	tests := []struct {
		name  string
		calls []call
		files []string // from number 10 on
	}{
		{"a descriptor used again is another file", []call{
			{ioOpen, 3, 0, "/a", 10}, {ioWrite, 3, 0, "", 10}, {ioClose, 3, 0, "", 10}, {ioOpen, 3, 0, "/b", 11}, {ioRead, 3, 0, "", 11}},
			[]string{"/a", "/b"}},
		{"standard streams", []call{{ioRead, 0, 0, "", 1}, {ioWrite, 2, 0, "", 3}}, nil},
		{"not opened here", []call{{ioRead, 7, 0, "", 10}, {ioWrite, 7, 0, "", 10}}, []string{other}},
		{"duplicate", []call{{ioOpen, 3, 0, "/a", 10}, {ioOpen, 4, 3, "", 11}, {ioRead, 4, 0, "", 11}, {ioRead, 3, 0, "", 10}}, []string{"/a", "/a"}},
		{"duplicate of a standard stream", []call{{ioOpen, 4, 1, "", 10}}, []string{"<stdout>"}},
		{"a pipe", []call{{ioOpen, 3, 0, "", 10}, {ioOpen, 4, 0, "", 11}, {ioWrite, 4, 0, "", 11}, {ioRead, 3, 0, "", 10}}, []string{other, other}},
		{"duplicate of nothing known", []call{{ioOpen, 4, 9, "", 10}}, []string{other}},
		{"a failing open binds nothing", []call{{ioOpen + ioErrors, -1, 0, "/no", 10}, {ioRead, -1, 0, "", 11}}, []string{"/no", other}},
		{"close of nothing", []call{{ioClose, 9, 0, "", fileNone}}, nil},
		{"other calls", []call{{ioOther, 3, 0, "", fileOther}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := NewFiles()
			d := files.Process(1)
			for i, c := range tt.calls {
				if got := d.File(c.op, c.fd, c.orig, 23, c.name); got != c.want {
					t.Errorf("call %d: file %d, want %d", i, got, c.want)
				}
			}
			var names []string
			for _, f := range files.Files[fileOther:] {
				names = append(names, f.Name)
			}
			if diff := cmp.Diff(tt.files, names); diff != "" {
				t.Error(diff)
			}
		})
	}
}
