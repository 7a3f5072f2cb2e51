package serve

import (
	"os"
	"os/exec"
	"testing"
)

// Runs the unit tests of the page's sources: of the layout of flame graphs, and of addresses.
func TestPageSources(t *testing.T) {
	if _, err := os.Stat("web/node_modules"); err != nil {
		t.Skip("no node modules: run npm ci in queries/serve/web")
	}
	c := exec.CommandContext(t.Context(), "node", "test.mjs")
	c.Dir = "web"
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
