// The width of an element, for drawings that fill it.
import { type RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

// useWidth returns a reference for an element, and its width in pixels. Until it is known, the width is `first`.
export function useWidth<E extends HTMLElement>(first: number, least: number): [RefObject<E | null>, number] {
  const host = useRef<E>(null);
  const [width, set] = useState(first);
  useLayoutEffect(() => {
    const on = host.current!;
    const update = () => set(Math.max(on.clientWidth, least));
    update();
    const resized = new ResizeObserver(update);
    resized.observe(on);
    return () => resized.disconnect();
  }, []);
  return [host, width];
}
