package serve

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For any tree, all sides have the sums of its stacks, even if few nodes are shown.
func TestFlameSides(t *testing.T) {
	type stack struct {
		names []string
		value int64
	}
	rapid.Check(t, func(t *rapid.T) {
		tree, stacks := newFlameTree(0), []stack{}
		object := func(name string) string { return "lib" + string(name[0]) }
		for range rapid.IntRange(1, 30).Draw(t, "stacks") {
			s := stack{rapid.SliceOfN(rapid.StringMatching("[ab][12]"), 0, 6).Draw(t, "stack"), rapid.Int64Range(0, 5).Draw(t, "value")}
			stacks = append(stacks, s)
			at := tree.node(-1, tree.intern(functionName{function: "<Total>", kind: "artificial"}))
			tree.nodes[at].value += s.value
			for _, name := range s.names {
				at = tree.node(at, tree.intern(functionName{function: name, loadObject: object(name), kind: "normal"}))
				tree.nodes[at].value += s.value
			}
			tree.nodes[at].exclusive += s.value
		}
		// paths returns what a side should show: the values of stacks, by their names joined in the side's order.
		paths := func(side flameSide) map[string]int64 {
			all := map[string]int64{}
			for _, s := range stacks {
				names := slices.Clone(s.names)
				mine := func(name string) bool {
					return side.group == "function" && name == side.of || side.group == "load-object" && object(name) == side.of
				}
				first := slices.IndexFunc(names, mine)
				switch {
				case s.value == 0 || side.side != "inverted" && first < 0:
					continue
				case side.side == "inverted":
					slices.Reverse(names)
				case side.side == "callers":
					names = names[:first]
					slices.Reverse(names)
				default:
					for names = names[first+1:]; side.group == "load-object" && len(names) > 0 && mine(names[0]); {
						names = names[1:]
					}
				}
				all[strings.Join(names, ";")] += s.value
			}
			return all
		}
		sides := []flameSide{{side: "inverted"}}
		for _, side := range []string{"callers", "callees"} {
			sides = append(sides, flameSide{side, "function", "a1"}, flameSide{side, "load-object", "libb"})
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
			for _, most := range []int{1, rapid.IntRange(1, 40).Draw(t, "most"), 1000} {
				text := tree.fromSide(side, most).json(flameHead{mode: "user"}, false)
				var got struct{ Tree flame }
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				if n := got.Tree.check(t); n > max(most, 2) {
					t.Fatalf("%+v: %d nodes of at most %d: %s", side, n, most, text)
				}
				more := 0
				var look func(f *flame, path string)
				look = func(f *flame, path string) {
					if strings.HasSuffix(f.Name, " more>") {
						more++
						return
					}
					if f.Value != value(path) || most == 1000 && f.Exclusive != value(path)-beyond(want, path) {
						t.Fatalf("%+v: %q has %d, itself %d, of %v: %s", side, path, f.Value, f.Exclusive, want, text)
					}
					for i := range f.Children {
						look(&f.Children[i], strings.TrimPrefix(path+";"+f.Children[i].Name, ";"))
					}
				}
				look(&got.Tree, "")
				if most == 1000 && more > 0 {
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

// `of` and `group` are accepted only with the sides callers and callees, which need `of`.
func TestFlameSideAsked(t *testing.T) {
	for query, ok := range map[string]bool{"": true, "side=inverted": true, "side=callers&of=f": true, "side=callees&of=f&group=module": true, "side=callers": false, "side=inverted&of=f": false, "group=module": false, "side=inverted&group=module": false, "of=f": false} {
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
