package symbolize

import "testing"

// The linker keeps one copy of a C++ function, unless the function is static.
func TestSharedSymbols(t *testing.T) {
	for symbol, want := range map[string]bool{
		"f": false, "_Z1fv": true, "_ZL1fv": false, "_ZN1aL1fEi": false, "_ZN1a1fEi": true, "_ZN12_GLOBAL__N_11fEv": false,
		"_ZZL1fvENKUlvE_clEv": false, "_ZZ4mainENKUlvE_clEv": true, "_Z1fILi3EEvv": true, "_ZN4Grid4fillEl": true,
	} {
		if isShared(symbol) != want {
			t.Errorf("%s: %v", symbol, !want)
		}
	}
}
