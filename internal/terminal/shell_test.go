package terminal

import (
	"os/exec"
	"testing"
)

// TestShellQuote checks that the shell reads a quoted word unchanged.
func TestShellQuote(t *testing.T) {
	for _, word := range []string{"", "plain-1.2/x", "a b", "it's", "$HOME `id` \\ \"x\"", "a\nb", "~", "*", "é"} {
		out, err := exec.Command("bash", "-c", "printf %s "+ShellQuote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: %q, %v", word, out, err)
		}
	}
}
