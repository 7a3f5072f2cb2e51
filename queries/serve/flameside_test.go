package serve

import (
	"net/url"
	"testing"
)

// `of` and `group` are accepted only with the sides callers and callees.
func TestFlameSideAsked(t *testing.T) {
	for query, ok := range map[string]bool{"": true, "side=inverted": true, "side=callers&of=f": true, "side=callees&of=f&group=module": true, "side=callers": true, "side=callees&group=module": true, "side=inverted&of=f": false, "group=module": false, "side=inverted&group=module": false, "of=f": false} {
		c := &call{}
		var err error
		if c.values, err = url.ParseQuery(query); err != nil {
			t.Fatal(err)
		}
		if _, err := c.flameSide(); (err == nil) != ok {
			t.Errorf("%q: %v", query, err)
		}
	}
}
