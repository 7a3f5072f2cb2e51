package serve

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// If a file of the store is lost, the server reports a failure; it does not refuse the request.
func TestLostFile(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := os.Remove(filepath.Join(store, storedir.FilePath("samples", "00000000000000aa"))); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Texts(t.Context(), "SELECT max(sample) FROM samples")
	for _, err := range []error{err, errors.New(err.Error())} { // the error itself, and as it comes from another process
		if got := StatusOf(sqlError(err)); got != http.StatusInternalServerError || !strings.Contains(Explain(err), "is missing: ") || !strings.Contains(Explain(err), "repeat the query") {
			t.Errorf("%d: %s", got, Explain(err))
		}
	}
	_, err = db.Texts(t.Context(), "SELECT content FROM read_text('/etc/passwd')")
	if got := StatusOf(sqlError(err)); got != http.StatusForbidden {
		t.Errorf("%d: %v", got, err)
	}
}
