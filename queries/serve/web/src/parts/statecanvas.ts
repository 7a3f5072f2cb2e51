// Drawing of thread states. Besides its color, each state has a pattern, and a letter where there is room.
import { stateOf, type Layout, type ThreadState } from '../lib/threadstates';

export const laneHeight = 22;

const patterns = new Map<string, CanvasPattern>();

// statePattern returns what a state is filled with.
export function statePattern(g: CanvasRenderingContext2D, s: ThreadState, dark: boolean): string | CanvasPattern {
  const color = dark ? s.dark : s.light;
  if (s.pattern === 'none') return color;
  const key = s.pattern + color;
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const size = 6;
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const on = tile.getContext('2d')!;
  on.fillStyle = color;
  on.fillRect(0, 0, size, size);
  on.strokeStyle = on.fillStyle = dark ? 'rgb(255 255 255 / 0.45)' : 'rgb(0 0 0 / 0.4)';
  on.lineWidth = 1.2;
  on.beginPath();
  switch (s.pattern) {
    case 'stripes':
      on.moveTo(-1, size + 1);
      on.lineTo(size + 1, -1);
      on.moveTo(-1, 1);
      on.lineTo(1, -1);
      on.moveTo(size - 1, size + 1);
      on.lineTo(size + 1, size - 1);
      break;
    case 'grid':
      on.moveTo(0, 2.5);
      on.lineTo(size, 2.5);
      on.moveTo(2.5, 0);
      on.lineTo(2.5, size);
      break;
    case 'dots':
      on.fillRect(1, 1, 2, 2);
      on.fillRect(4, 4, 2, 2);
      break;
    case 'dashes':
      on.moveTo(0, 3);
      on.lineTo(3, 3);
      break;
  }
  on.stroke();
  const made = g.createPattern(tile, 'repeat')!;
  patterns.set(key, made);
  return made;
}

// drawStates draws the lanes of a timeline, and returns the number of rectangles.
export function drawStates(canvas: HTMLCanvasElement, layout: Layout, states: string[], dark: boolean): number {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d')!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const fills = new Map(states.map((label) => [label, statePattern(g, stateOf(label), dark)]));
  let drawn = 0;
  layout.timeline.lanes.forEach((_, lane) => {
    const top = lane * laneHeight + 1;
    const room = laneHeight - 2;
    for (const s of layout.ofLane(lane)) {
      const left = layout.x(s.from) * width;
      const wide = Math.max(layout.x(s.until) * width - left, 0.5);
      let y = top + room;
      for (const part of layout.parts(s, states)) {
        const tall = part.share * room;
        y -= tall;
        g.fillStyle = fills.get(part.state)!;
        g.fillRect(left, y, wide, tall);
        drawn++;
        if (wide > 16 && part.share > 0.7) {
          const state = stateOf(part.state);
          g.fillStyle = dark ? state.dark : state.light;
          g.fillRect(left + 2, y + tall / 2 - 7, 11, 14); // without the pattern
          g.fillStyle = dark ? '#f2f4f7' : '#14171c';
          g.fillText(state.letter, left + 4, y + tall / 2 + 0.5);
        }
      }
    }
  });
  return drawn;
}
