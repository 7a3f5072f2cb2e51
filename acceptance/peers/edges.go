package main

func (p *peer) checkEdges() {}
