// Colors for source code: keywords, comments, texts and numbers. It knows tokens, no grammar, so that it can begin at
// any line of a long file.

export type Token = 'keyword' | 'comment' | 'text' | 'number' | 'directive' | '';

interface Language {
  keywords: Set<string>;
  line: RegExp | undefined; // begins a comment that ends with the line
  blocks: [string, string][]; // comments that may end on a later line
  texts: [string, string, boolean][]; // how texts begin and end, and whether they may end on a later line
  directives: boolean; // lines that begin with # are for the preprocessor
  anyCase?: boolean; // keywords in capitals are the same
}

const words = (text: string) => new Set(text.split(' '));

const c =
  'auto break case char const continue default do double else enum extern float for goto if inline int ' +
  'long register restrict return short signed sizeof static struct switch typedef union unsigned void ' +
  'volatile while bool true false';

const quotes: [string, string, boolean][] = [
  ['"', '"', false],
  ["'", "'", false],
];
const slashes: Pick<Language, 'line' | 'blocks'> = { line: /\/\//y, blocks: [['/*', '*/']] };

const languages: Record<string, Language> = {
  c: { keywords: words(c), ...slashes, texts: quotes, directives: true },
  cpp: {
    keywords: words(
      c +
        ' alignas alignof and catch class concept consteval constexpr constinit co_await co_return co_yield ' +
        'decltype delete dynamic_cast explicit export final friend mutable namespace new noexcept not nullptr ' +
        'operator or override private protected public reinterpret_cast requires static_assert static_cast ' +
        'template this thread_local throw try typeid typename using virtual size_t uint8_t uint16_t uint32_t ' +
        'uint64_t int8_t int16_t int32_t int64_t',
    ),
    ...slashes,
    texts: [['R"(', ')"', true], ...quotes],
    directives: true,
  },
  go: {
    keywords: words(
      'break case chan const continue default defer else fallthrough for func go goto if import interface map ' +
        'package range return select struct switch type var nil true false iota bool byte error float32 float64 ' +
        'int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr any',
    ),
    ...slashes,
    texts: [['`', '`', true], ...quotes],
    directives: false,
  },
  rust: {
    keywords: words(
      'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match ' +
        'mod move mut pub ref return self Self static struct super trait true type union unsafe use where while ' +
        'bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize',
    ),
    ...slashes,
    texts: [
      ['r#"', '"#', true],
      ['"', '"', true],
    ],
    directives: false,
  },
  java: {
    keywords: words(
      'abstract assert boolean break byte case catch char class const continue default do double else enum ' +
        'extends final finally float for goto if implements import instanceof int interface long native new null ' +
        'package private protected public record return short static super switch synchronized this throw throws ' +
        'transient true false try var void volatile while fun val when object override let async await function ' +
        'export typeof',
    ),
    ...slashes,
    texts: [['"""', '"""', true], ['`', '`', true], ...quotes],
    directives: false,
  },
  d: {
    keywords: words(
      c +
        ' abstract alias align asm assert body byte cast catch class debug delegate delete deprecated export ' +
        'final finally foreach foreach_reverse function immutable import in interface invariant is lazy mixin ' +
        'module new nothrow null out override package pragma private protected public pure real ref scope shared ' +
        'string super synchronized template this throw try ubyte uint ulong unittest ushort version with',
    ),
    line: /\/\//y,
    blocks: [
      ['/*', '*/'],
      ['/+', '+/'],
    ],
    texts: [
      ['`', '`', true],
      ['"', '"', true],
      ["'", "'", false],
    ],
    directives: false,
  },
  fortran: {
    keywords: words(
      'allocatable allocate call case character common complex contains continue cycle data deallocate ' +
        'dimension do double elemental else elseif end enddo endif entry exit external function go goto if ' +
        'implicit in inout integer intent interface intrinsic kind len logical module none only out parameter ' +
        'pointer precision print private procedure program public pure read real recursive result return save ' +
        'select stop subroutine target then to type use where while write concurrent block associate class',
    ),
    line: /!/y,
    blocks: [],
    texts: quotes,
    directives: true,
    anyCase: true,
  },
  ada: {
    keywords: words(
      'abort abs abstract accept access aliased all and array at begin body case constant declare delay delta ' +
        'digits do else elsif end entry exception exit for function generic goto if in interface is limited loop ' +
        'mod new not null of or others out overriding package pragma private procedure protected raise range ' +
        'record rem renames requeue return reverse select separate some subtype synchronized tagged task ' +
        'terminate then type until use when while with xor',
    ),
    line: /--/y,
    blocks: [],
    texts: [['"', '"', false]],
    directives: false,
    anyCase: true,
  },
  python: {
    keywords: words(
      'False None True and as assert async await break class continue def del elif else except finally for ' +
        'from global if import in is lambda nonlocal not or pass raise return try while with yield match case ' +
        'self cdef cpdef',
    ),
    line: /#/y,
    blocks: [],
    texts: [['"""', '"""', true], ["'''", "'''", true], ...quotes],
    directives: false,
  },
  assembly: { keywords: new Set(), line: /#|\/\/|;/y, blocks: [['/*', '*/']], texts: quotes, directives: false },
};

// endings lists the ends of file names by language.
const endings: Record<string, string> = {
  c: 'c',
  cpp: 'h cc cpp cxx c++ hh hpp hxx inl ipp tcc cu cuh m mm',
  go: 'go',
  rust: 'rs',
  java: 'java kt scala js ts cs swift',
  d: 'd di',
  fortran: 'f for f77 f90 f95 f03 f08',
  ada: 'adb ads ada',
  python: 'py pyx',
  assembly: 's asm',
};

// languageOf returns the language of a file by the end of its name; undefined if it is unknown. Headers of the C++
// library have no extension.
export function languageOf(file: string): Language | undefined {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot < 0) return /\/c\+\+\//.test(file) ? languages.cpp : undefined;
  const ending = name.slice(dot + 1).toLowerCase();
  const of = Object.entries(endings).find(([, list]) => list.split(' ').includes(ending));
  return of === undefined ? undefined : languages[of[0]];
}

// Highlighter colors the lines of one file. A line depends on what an earlier line left open: that is computed once,
// from the first line to the last one that was shown.
export class Highlighter {
  private readonly open: string[] = ['']; // by line: the end of the comment or text that is open at its start
  constructor(
    private readonly language: Language,
    private readonly lines: string[],
  ) {}

  // tokens returns the parts of a line with their kinds.
  tokens(line: number): [Token, string][] {
    for (let n = this.open.length; n <= line; n++) this.open[n] = this.scan(this.lines[n - 1]!, this.open[n - 1]!);
    const parts: [Token, string][] = [];
    this.scan(this.lines[line]!, this.open[line]!, (kind, text) => {
      const last = parts[parts.length - 1];
      if (last !== undefined && last[0] === kind) last[1] += text;
      else parts.push([kind, text]);
    });
    return parts;
  }

  // scan passes the tokens of a line to take, and returns the end of what the line leaves open.
  private scan(line: string, open: string, take?: (kind: Token, text: string) => void): string {
    const l = this.language;
    let at = 0;
    if (open !== '') {
      const end = line.indexOf(open);
      const kind = l.blocks.some(([, e]) => e === open) ? 'comment' : 'text';
      if (end < 0) {
        take?.(kind, line);
        return open;
      }
      at = end + open.length;
      take?.(kind, line.slice(0, at));
    } else if (l.directives && /^\s*#/.test(line)) {
      const directive = /^\s*#\s*\w*/.exec(line)![0];
      take?.('directive', directive);
      at = directive.length;
    }
    while (at < line.length) {
      if (l.line !== undefined) {
        l.line.lastIndex = at;
        if (l.line.test(line)) {
          take?.('comment', line.slice(at));
          return '';
        }
      }
      const block = l.blocks.find(([begin]) => line.startsWith(begin, at));
      const text = block === undefined ? l.texts.find(([begin]) => line.startsWith(begin, at)) : undefined;
      if (block !== undefined || text !== undefined) {
        const [begin, end] = block ?? text!;
        const to = endOf(line, at + begin.length, end, block === undefined);
        const kind = block === undefined ? 'text' : 'comment';
        take?.(kind, line.slice(at, to < 0 ? undefined : to));
        if (to < 0) return block !== undefined || text![2] ? end : '';
        at = to;
        continue;
      }
      token.lastIndex = at;
      const word = token.exec(line)![0];
      const known = l.keywords.has(l.anyCase === true ? word.toLowerCase() : word);
      take?.(known ? 'keyword' : /^\d/.test(word) ? 'number' : '', word);
      at += word.length;
    }
    return '';
  }
}

const token = /[A-Za-z_]\w*|\d[\w.']*|\s+|[^]/y;

// endOf returns the position behind the end of a comment or text; -1 if it is not on the line. In a text, a backslash
// escapes the next letter.
function endOf(line: string, from: number, end: string, escapes: boolean): number {
  for (let at = from; at < line.length; at++) {
    if (escapes && line[at] === '\\' && end.length === 1 && end !== '`') at++;
    else if (line.startsWith(end, at)) return at + end.length;
  }
  return -1;
}
