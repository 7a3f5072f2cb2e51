// Short forms of functions' names.

const long = 40; // letters from which a name is shortened
const few = 12; // letters of arguments that stay

// shortName replaces long arguments of templates and of functions by an ellipsis: std::vector<…>::push_back(…).
export function shortName(name: string): string {
  if (name.length <= long) return name;
  const out: string[] = [];
  for (let i = 0; i < name.length;) {
    const c = name[i]!;
    if (name.startsWith('operator', i)) {
      const symbols = /^operator(?:[-<>=!+*/%^&|~,]+|\(\)|\[\])?/.exec(name.slice(i, i + 14))![0];
      out.push(symbols);
      i += symbols.length;
    } else if (i > 0 && ((c === '<' && /[\w:]/.test(name[i - 1]!)) || (c === '(' && /[\w>\])]/.test(name[i - 1]!)))) {
      const end = closing(name, i);
      const inside = name.slice(i + 1, end);
      const keep = inside.length <= few || inside === 'anonymous namespace';
      out.push(keep ? name.slice(i, end + 1) : `${c}…${name[end] ?? ''}`);
      i = end + 1;
    } else {
      out.push(c);
      i++;
    }
  }
  return out.join('');
}

const longest = 1000; // letters of a name in an address

// reference returns what stands for a name in an address and in requests: its beginning, if it is so long that proxies
// refuse the address.
export function reference(name: string): string {
  const letters = name.length > longest ? [...name.slice(0, 2 * longest + 2)] : [];
  return letters.length > longest ? letters.slice(0, longest).join('') : name;
}

// closing returns the index of the bracket that closes the one at an index; the length of the name if there is none.
function closing(name: string, open: number): number {
  let depth = 0;
  for (let i = open; i < name.length; i++) {
    const c = name[i]!;
    if (c === '<' || c === '(') depth++;
    else if (c === ')' || (c === '>' && name[i - 1] !== '-')) depth--;
    if (depth === 0) return i;
  }
  return name.length;
}
