package flametree

import (
	"cmp"
	"slices"
)

// CallGraph is the graph of calls between the functions of a tree, or between their modules or load objects.
type CallGraph struct {
	*Tree
	Names   []Function // by group: the name of the function, module or load object
	Cycles  [][]int32  // groups that call each other in a circle, directly or through others of them; Cycles[0] is empty
	cycle   []int32    // by group: index into Cycles, 0 if it is in none
	groupOf []int32    // by function: its group
}

// NewCallGraph returns the graph between the groups of a tree, which are one of Groups.
func (t *Tree) NewCallGraph(by string) *CallGraph {
	g := &CallGraph{Tree: t, groupOf: make([]int32, len(t.Functions))}
	numbers, root := map[Function]int32{}, -1
	if len(t.Nodes) > 0 {
		root = int(t.Nodes[0].Name)
	}
	for i, f := range t.Functions {
		if i != root { // <Total> is no function, so it is in no module
			switch by {
			case "module":
				f = Function{Name: f.Module, LoadObject: f.LoadObject, Module: f.Module, Kind: "module"}
			case "load-object":
				f = Function{Name: f.LoadObject, LoadObject: f.LoadObject, Kind: "load object"}
			}
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

// group returns the group of a node.
func (g *CallGraph) group(node int32) int32 { return g.groupOf[g.Nodes[node].Name] }

// Cycle returns the cycle that a group is in, as an index into Cycles; 0 if it is in none.
func (g *CallGraph) Cycle(group int32) int32 { return g.cycle[group] }

// Values returns the exclusive and inclusive value of each group. A stack counts once.
func (g *CallGraph) Values() (exclusive, inclusive []int64) {
	exclusive, inclusive = make([]int64, len(g.Names)), make([]int64, len(g.Names))
	open := make([]int32, len(g.Names)) // by group: how many nodes on the path are in it
	g.walk(func(node int32) {
		group := g.group(node)
		exclusive[group] += g.Nodes[node].Exclusive
		if open[group]++; open[group] == 1 {
			inclusive[group] += g.Nodes[node].Value
		}
	}, func(node int32) { open[g.group(node)]-- })
	return exclusive, inclusive
}

// walk visits all nodes, each after its parent, and leaves each after the nodes below it.
func (g *CallGraph) walk(visit, leave func(node int32)) {
	first, next := make([]int32, len(g.Nodes)), make([]int32, len(g.Nodes)) // first child, next sibling; 0: none
	for i := len(g.Nodes) - 1; i > 0; i-- {
		p := max(g.Nodes[i].Parent, 0)
		next[i], first[p] = first[p], int32(i)
	}
	for at := int32(0); int(at) < len(g.Nodes); {
		visit(at)
		if first[at] != 0 {
			at = first[at]
			continue
		}
		leave(at)
		for at != 0 && next[at] == 0 {
			at = max(g.Nodes[at].Parent, 0)
			leave(at)
		}
		if at == 0 {
			return
		}
		at = next[at]
	}
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
	for i := range g.Nodes {
		if p := g.Nodes[i].Parent; p >= 0 && g.group(p) != g.group(int32(i)) {
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
	near := make([]int32, len(g.Nodes))    // by node: the nearest node of the group on its path, or -1
	towards := make([]int32, len(g.Nodes)) // the callee of that node on the path, or -1
	top := make([]int32, len(g.Nodes))     // for nodes of the group: the first of the adjacent nodes that count as one frame
	callers, callees := map[int32]int64{}, map[int32]int64{}
	var n Neighbors
	for i := range g.Nodes {
		node, parent := int32(i), g.Nodes[i].Parent
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
		value := g.Nodes[i].Exclusive
		if near[i] < 0 || value == 0 {
			continue
		}
		n.Inclusive += value
		if near[i] == node {
			n.Exclusive += value
		} else {
			callees[towards[i]] += value
		}
		if caller := g.Nodes[top[near[i]]].Parent; caller >= 0 {
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
