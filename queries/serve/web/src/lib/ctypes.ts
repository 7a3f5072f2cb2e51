// Types of data objects as C writes them. The store spells them as the Performance Analyzer does: prefixes that read
// from left to right, such as {pointer+const+structure:ops ops}.

// Declaration is the type and name in a descriptor.
export interface Declaration {
  type: string;
  name: string; // empty if it has none
  known: boolean; // whether the type is known
}

// declarationOf reads the descriptor of a variable, a type or a member, without those that contain it. If the name is
// given, it is what follows the last space.
export function declarationOf(descriptor: string, name = ''): Declaration {
  let text = descriptor.replace(/^\{/, '').replace(/\}$/, '');
  if (name !== '' && text.endsWith(' ' + name)) text = text.slice(0, -name.length - 1);
  else if (text.endsWith(' -')) text = text.slice(0, -2);
  return { type: typeText(text), name, known: text !== '-' };
}

const kinds: Record<string, string> = { structure: 'struct', class: 'class', union: 'union', enumeration: 'enum' };

// typeText returns a type as C writes it: `const struct ops *`, `char [20]`.
export function typeText(text: string): string {
  const rest = (prefix: string) => text.slice(prefix.length);
  if (text.startsWith('pointer+')) return join(typeText(rest('pointer+')), '*');
  if (text.startsWith('reference+')) return join(typeText(rest('reference+')), '&');
  for (const word of ['const', 'volatile', 'restrict', 'atomic']) {
    if (!text.startsWith(word + '+')) continue;
    const of = rest(word + '+');
    return of.startsWith('pointer+') ? join(typeText(of), word) : `${word} ${typeText(of)}`;
  }
  const array = /^array((?:\[[^\]]*\])+):/.exec(text);
  if (array !== null) return join(typeText(rest(array[0])), array[1]!);
  const kind = /^(structure|class|union|enumeration):(.*)$/.exec(text);
  if (kind !== null) return kind[2] === '-' ? kinds[kind[1]!]! : `${kinds[kind[1]!]!} ${kind[2]!}`;
  const bits = /^([^<]*):(\d+)$/.exec(text);
  if (bits !== null) return `${typeText(bits[1]!)} : ${bits[2]!}`;
  const named = /^([^<=]+)=/.exec(text);
  if (named !== null) return named[1]!;
  return /^(unsigned|signed|long|short|char|int|float|double|_Bool|bool|_)+$/.test(text)
    ? text
        .replaceAll('_', ' ')
        .trim()
        .replace(/^Bool$/, '_Bool')
    : text;
}

function join(type: string, what: string): string {
  return /[*&]$/.test(type) && /^[*&]/.test(what) ? type + what : `${type} ${what}`;
}

// membersOf returns the names of the members in a descriptor of an element: {structure:a}.{int n} is n of struct a.
export function pathOf(descriptor: string): { of: string; members: string } {
  const parts = descriptor.split(/(?<=\})\.(?=\{)/);
  const nameOf = (part: string) => {
    const text = part.slice(1, -1);
    const space = text.lastIndexOf(' ');
    return space < 0 || text.includes('<') ? typeText(text) : text.slice(space + 1);
  };
  if (parts.length === 1) {
    const name = parts[0]!.slice(1, -1);
    const space = name.lastIndexOf(' ');
    if (space > 0 && !name.includes('<') && name.slice(space + 1) !== '-')
      return { of: name.slice(space + 1), members: '' };
    return { of: declarationOf(parts[0]!).type, members: '' };
  }
  return { of: declarationOf(parts[0]!).type, members: parts.slice(1).map(nameOf).join('.') };
}
