package flametree

import (
	"cmp"
	"slices"
)

// CallGraph is the graph of calls between the functions of a tree, or between their modules or load objects.
type CallGraph struct {
	*Layout[int64]
	Names   []Function // by group: the name of the function, module or load object
	Cycles  [][]int32  // groups that call each other in a circle, directly or through others of them; Cycles[0] is empty
	cycle   []int32    // by group: index into Cycles, 0 if it is in none
	groupOf []int32    // by function: its group
}

// CallGroups are what calls in a call graph: Groups and packages, which are namespaces in C++ and Rust.
var CallGroups = append(slices.Clone(Groups), "package")

// callGroup returns the group of a function: its module, load object or package, or itself. Functions without a package
// are in the group of their load object.
func callGroup(f Function, by string) Function {
	switch by {
	case "module":
		return Function{Name: f.Module, LoadObject: f.LoadObject, Module: f.Module, Kind: "module"}
	case "load-object":
		return Function{Name: f.LoadObject, LoadObject: f.LoadObject, Kind: "load object"}
	case "package":
		if name := cmp.Or(Package(f), Namespace(f.Name)); name != "" {
			return Function{Name: name, Kind: "package"}
		}
		return Function{Name: f.LoadObject, LoadObject: f.LoadObject, Kind: "load object"}
	}
	return f
}

// NewCallGraph returns the graph between the groups of a layout from the root; by is one of CallGroups.
func NewCallGraph(l *Layout[int64], by string) *CallGraph {
	g := &CallGraph{Layout: l, groupOf: make([]int32, len(l.Functions))}
	numbers, root := map[Function]int32{}, -1
	if len(l.Frames) > 0 {
		root = int(l.Frames[0].Function)
	}
	for i, f := range l.Functions {
		if i != root { // <Total> is no function, so it is in no module
			f = callGroup(f, by)
		}
		number, ok := numbers[f]
		if !ok {
			number = int32(len(g.Names))
			numbers[f] = number
			g.Names = append(g.Names, f)
		}
		g.groupOf[i] = number
	}
	g.findCycles()
	return g
}

// group returns the group of a frame.
func (g *CallGraph) group(frame int32) int32 { return g.groupOf[g.Frames[frame].Function] }

// Cycle returns the cycle that a group is in, as an index into Cycles; 0 if it is in none.
func (g *CallGraph) Cycle(group int32) int32 { return g.cycle[group] }

// Values returns the exclusive and inclusive value of each group. A stack counts once.
func (g *CallGraph) Values() (exclusive, inclusive []int64) {
	return g.GroupSums(g.groupOf, len(g.Names))
}

// findCycles finds the groups that call each other in a circle: Tarjan's algorithm without recursion.
func (g *CallGraph) findCycles() {
	calls := g.calls()
	g.cycle, g.Cycles = make([]int32, len(g.Names)), make([][]int32, 1)
	number, low := make([]int32, len(g.Names)), make([]int32, len(g.Names)) // number: order of discovery, from 1
	on := make([]bool, len(g.Names))
	at := make([]int, len(g.Names)) // by group: the next of its calls
	var stack, path []int32
	count := int32(0)
	for start := range g.Names {
		if number[start] != 0 {
			continue
		}
		path = append(path, int32(start))
		for len(path) > 0 {
			n := path[len(path)-1]
			if number[n] == 0 {
				count++
				number[n], low[n], on[n] = count, count, true
				stack = append(stack, n)
			}
			if at[n] < len(calls[n]) {
				m := calls[n][at[n]]
				at[n]++
				if number[m] == 0 {
					path = append(path, m)
				} else if on[m] {
					low[n] = min(low[n], number[m])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				p := path[len(path)-1]
				low[p] = min(low[p], low[n])
			}
			if low[n] == number[n] {
				from := len(stack) - 1
				for stack[from] != n {
					from--
				}
				for _, m := range stack[from:] {
					on[m] = false
				}
				g.addCycle(stack[from:])
				stack = stack[:from]
			}
		}
	}
}

// addCycle adds a cycle of at least two groups.
func (g *CallGraph) addCycle(groups []int32) {
	if len(groups) < 2 {
		return
	}
	for _, n := range groups {
		g.cycle[n] = int32(len(g.Cycles))
	}
	g.Cycles = append(g.Cycles, slices.Clone(groups))
}

// calls returns, by group, the other groups that it calls, each once.
func (g *CallGraph) calls() [][]int32 {
	calls := make([][]int32, len(g.Names))
	for i := range g.Frames {
		if p := g.Frames[i].Parent; p >= 0 && g.group(p) != g.group(int32(i)) {
			calls[g.group(p)] = append(calls[g.group(p)], g.group(int32(i)))
		}
	}
	for i := range calls {
		slices.Sort(calls[i])
		calls[i] = slices.Compact(calls[i])
	}
	return calls
}

// Neighbors are the callers and callees of a group with their parts of its inclusive value, the highest first.
type Neighbors struct {
	Exclusive, Inclusive int64
	Callers, Callees     []CallValue
}

// CallValue is the part of a group's inclusive value that came from a caller, or went to a callee.
type CallValue struct {
	Group int32
	Value int64
}

// Neighbors returns the callers and callees of a group. As in the view callers_callees, a stack with several frames of
// the group counts for the caller and the callee of the frame nearest to the leaf. Adjacent frames of a module, a load
// object or a cycle count as one frame; a function that calls itself is its own caller and callee. If whole is set,
// the group is the cycle that it is in.
func (g *CallGraph) Neighbors(group int32, by string, whole bool) Neighbors {
	cycle := g.cycle[group]
	whole = whole && cycle > 0
	in := func(other int32) bool { return other == group || whole && g.cycle[other] == cycle }
	joined := whole || by != Groups[0]
	near := make([]int32, len(g.Frames))    // by node: the nearest node of the group on its path, or -1
	towards := make([]int32, len(g.Frames)) // the callee of that node on the path, or -1
	top := make([]int32, len(g.Frames))     // for nodes of the group: the first of the adjacent nodes that count as one frame
	callers, callees := map[int32]int64{}, map[int32]int64{}
	var n Neighbors
	for i := range g.Frames {
		node, parent := int32(i), g.Frames[i].Parent
		switch {
		case in(g.group(node)):
			near[i], towards[i], top[i] = node, -1, node
			if joined && parent >= 0 && near[parent] == parent {
				top[i] = top[parent]
			}
		case parent < 0 || near[parent] < 0:
			near[i], towards[i] = -1, -1
		case near[parent] == parent:
			near[i], towards[i] = parent, g.group(node)
		default:
			near[i], towards[i] = near[parent], towards[parent]
		}
		value := g.Frames[i].Exclusive
		if near[i] < 0 || value == 0 {
			continue
		}
		n.Inclusive += value
		if near[i] == node {
			n.Exclusive += value
		} else {
			callees[towards[i]] += value
		}
		if caller := g.Frames[top[near[i]]].Parent; caller >= 0 {
			callers[g.group(caller)] += value
		}
	}
	n.Callers, n.Callees = g.sorted(callers), g.sorted(callees)
	return n
}

// sorted returns the values by group, the highest first.
func (g *CallGraph) sorted(values map[int32]int64) []CallValue {
	list := make([]CallValue, 0, len(values))
	for group, value := range values {
		list = append(list, CallValue{group, value})
	}
	slices.SortFunc(list, func(a, b CallValue) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), compareNames(g.Names[a.Group], g.Names[b.Group]))
	})
	return list
}
