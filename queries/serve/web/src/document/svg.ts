// The script of a flame graph as SVG: zoom by a click, search, and the name of the frame under the pointer. Without
// scripts (in an <img>), the graph is static, with names as titles.

import { clip } from '../lib/clip';

const svg = document.documentElement as unknown as SVGSVGElement;
const width = svg.viewBox.baseVal.width;
const slack = 0.02; // pixels: positions are rounded
const letter = 7.25; // width of a letter in pixels, as queries/export/svg.go has it
const groups = [...svg.querySelectorAll<SVGGElement>('g.frame')];
const told = svg.querySelector<SVGTextElement>('#told')!;
const findLink = svg.querySelector<SVGTextElement>('#find')!;
const allLink = svg.querySelector<SVGTextElement>('#all')!;

interface Box {
  x: number;
  width: number;
  level: number;
}

// boxes are the positions of the frames in the graph that is not zoomed.
const boxes = groups.map((g): Box => {
  const rect = g.querySelector('rect')!;
  return { x: number(rect, 'x'), width: number(rect, 'width'), level: Number(g.dataset['level']) };
});

function number(of: Element, attribute: string): number {
  return Number(of.getAttribute(attribute));
}

const nameOf = (g: SVGGElement) => g.dataset['name'] ?? '';

// zoom shows a frame, its callers and its callees in the full width.
function zoom(to: Box): void {
  const scale = width / to.width;
  groups.forEach((g, i) => {
    const box = boxes[i]!;
    const inside = box.level >= to.level && box.x >= to.x - slack && box.x + box.width <= to.x + to.width + slack;
    const caller = box.level < to.level && box.x <= to.x + slack && box.x + box.width >= to.x + to.width - slack;
    g.style.display = inside || caller ? '' : 'none';
    if (!inside && !caller) return;
    const x = caller ? 0 : (box.x - to.x) * scale;
    const w = caller ? width : box.width * scale;
    g.querySelector('rect')!.setAttribute('x', String(x));
    g.querySelector('rect')!.setAttribute('width', String(w));
    const text = g.querySelector('text')!;
    text.setAttribute('x', String(x + 3));
    text.textContent = fit(nameOf(g), w);
  });
  allLink.style.display = to.level > 0 ? '' : 'none';
}

function fit(name: string, room: number): string {
  const letters = Math.floor((room - 6) / letter);
  return letters < 3 ? '' : clip(name, letters);
}

function find(): void {
  const wanted = (prompt('Show frames whose name contains:') ?? '').toLowerCase();
  for (const g of groups) g.classList.toggle('found', wanted !== '' && nameOf(g).toLowerCase().includes(wanted));
}

function tell(text: string): void {
  told.textContent = text;
  svg.querySelector<SVGTextElement>('#remark')!.style.display = text === '' ? '' : 'none';
}

groups.forEach((g, i) => {
  g.addEventListener('click', () => zoom(boxes[i]!));
  g.addEventListener('mouseenter', () => tell(g.querySelector('title')!.textContent));
  g.addEventListener('mouseleave', () => tell(''));
});
allLink.addEventListener('click', () => zoom(boxes[0]!));
findLink.addEventListener('click', find);
findLink.style.display = '';
