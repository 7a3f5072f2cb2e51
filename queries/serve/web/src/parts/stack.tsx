// A stack of calls, from the root to the leaf.
import { Name } from './name';

// framesOf returns the functions of a stack as the server writes it: separated by semicolons.
export function framesOf(stack: string): string[] {
  return stack === '' ? [] : stack.split(';');
}

// StackFrames lists the frames of a stack, the leaf first.
export function StackFrames({ stack }: { stack: string }) {
  const frames = framesOf(stack);
  if (frames.length === 0) return <p class="note">No stack was recorded.</p>;
  return (
    <ol class="stackframes" aria-label="Stack, the leaf first">
      {frames.map((_, n) => {
        const at = frames.length - 1 - n;
        return (
          <li key={at}>
            <Name of={{ kind: 'function', name: frames[at]!, stack: frames.slice(0, at + 1) }} />
          </li>
        );
      })}
    </ol>
  );
}

// wrappers are functions that allocate, transfer or wait for their callers.
const wrappers = new RegExp(
  '^(__libc_)?((m|c|re)alloc|free|mmap(64)?|munmap|operator new.*|(pthread|sem)_\\w+' +
    '|f?(read|write|open|close)|pread|pwrite|openat|fgets|fputs|syscall)$',
);

// callerOf returns the function that people look for in a stack: the one closest to the leaf that is not a wrapper.
export function callerOf(stack: string): string {
  const frames = framesOf(stack);
  for (let n = frames.length - 1; n >= 0; n--) if (!wrappers.test(frames[n]!)) return frames[n]!;
  return frames[frames.length - 1] ?? '';
}

// StackName shows the function that people look for in a stack, and its caller.
export function StackName({ stack }: { stack: string }) {
  const frames = framesOf(stack);
  const name = callerOf(stack);
  const at = frames.lastIndexOf(name);
  if (name === '') return <span class="dim">no stack</span>;
  return (
    <span class="stackname">
      <Name of={{ kind: 'function', name, stack: frames.slice(0, at + 1) }} />
      {at > 0 && <small class="dim">in {frames[at - 1]}</small>}
    </span>
  );
}
