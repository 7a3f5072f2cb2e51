package prove

import (
	"fmt"

	"stackmill/schema"
)

// proveModes proves that rows hold for some mode, and for none that their table lacks.
func (x *experiment) proveModes() error {
	for _, t := range schema.Tables {
		if !t.Has("modes") || x.rows[t].n == 0 {
			continue
		}
		for _, m := range x.col(t, "modes") {
			if m&^t.Modes() != 0 || m == 0 {
				return fmt.Errorf("%s: modes %d", t.Name, m)
			}
		}
	}
	return nil
}
