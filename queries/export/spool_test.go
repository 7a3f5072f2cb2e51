package export

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Several texts can be written in turns. Each stays complete, even if little or nothing of it fits in memory.
func TestSpool(t *testing.T) {
	for _, most := range []int{0, 10, 1 << 20} {
		s := &spool{max: most}
		defer s.close()
		texts, want := make([]spoolText, 3), make([]string, 3)
		for i := range 100 {
			of := i * i % 3 // the text with number 2 stays empty
			part := fmt.Sprintf("%d,", i)
			want[of] += part
			if err := s.add(&texts[of], func(text []byte) []byte { return append(text, part...) }); err != nil {
				t.Fatal(err)
			}
		}
		for i := range texts {
			var got bytes.Buffer
			if err := s.copy(&got, &texts[i]); err != nil {
				t.Fatal(err)
			}
			if got.String() != want[i] {
				t.Errorf("most %d, text %d: %q, want %q", most, i, got.String(), want[i])
			}
		}
		if spilled := s.file != nil; spilled != (most < len(strings.Join(want, ""))) {
			t.Errorf("most %d: spilled: %v", most, spilled)
		}
	}
}
