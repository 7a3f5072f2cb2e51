package flametree

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFlameSides checks that, for any tree, all sides have the sums of its stacks, even if few frames are shown.
func TestFlameSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		whole, object := layoutOf(stacks), objectOf
		// paths returns the values that a side should show for each stack. The keys are the stack's names, joined in the
		// side's order.
		paths := func(side Side) map[string]int64 {
			all := map[string]int64{}
			for _, s := range stacks {
				names := slices.Clone(s.names)
				mine := func(name string) bool {
					return side.Group == "function" && name == side.Of || side.Group == "load-object" && object(name) == side.Of
				}
				first := slices.IndexFunc(names, mine)
				switch {
				case s.value == 0 || side.Side != "inverted" && first < 0:
					continue
				case side.Side == "inverted":
					slices.Reverse(names)
				case side.Side == "callers":
					names = names[:first]
					slices.Reverse(names)
				default:
					for names = names[first+1:]; side.Group == "load-object" && len(names) > 0 && mine(names[0]); {
						names = names[1:]
					}
				}
				all[strings.Join(names, ";")] += s.value
			}
			return all
		}
		sides := []Side{{Side: "inverted"}}
		for _, side := range []string{"callers", "callees"} {
			sides = append(sides, Side{side, "function", "a1"}, Side{side, "load-object", "libb"})
		}
		for _, side := range sides {
			want := paths(side)
			value := func(prefix string) (sum int64) {
				for path, v := range want {
					if prefix == "" || path == prefix || strings.HasPrefix(path, prefix+";") {
						sum += v
					}
				}
				return sum
			}
			l := SideOf(whole, side)
			for _, least := range []float64{rapid.Float64Range(0.5, 40).Draw(t, "least"), 0} {
				text := Show(l, l.Visible(l.Whole(), least)).JSON(Head{Mode: "user"}, false)
				var got struct{ Tree flame }
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if least == 0 {
					got.Tree.check(t)
				}
				more := 0
				var look func(f *flame, path string)
				look = func(f *flame, path string) {
					if strings.HasSuffix(f.Name, " more>") {
						more++
						return
					}
					if f.Value != value(path) || least == 0 && f.Exclusive != value(path)-beyond(want, path) {
						t.Fatalf("%+v: %q has %d, itself %d, of %v: %s", side, path, f.Value, f.Exclusive, want, text)
					}
					for i := range f.Children {
						look(&f.Children[i], strings.TrimPrefix(path+";"+f.Children[i].Name, ";"))
					}
				}
				look(&got.Tree, "")
				if least == 0 && more > 0 {
					t.Fatalf("%+v: something is left out: %s", side, text)
				}
			}
		}
	})
}

// beyond returns the sum of all paths that start with `path` and are longer.
func beyond(paths map[string]int64, path string) (sum int64) {
	for longer, v := range paths {
		if longer != path && (path == "" || strings.HasPrefix(longer, path+";")) {
			sum += v
		}
	}
	return sum
}
