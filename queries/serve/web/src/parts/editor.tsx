// The SQL editor: CodeMirror in a shadow DOM. There it installs styles as objects; style elements are
// forbidden by the page's content security policy.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { keywordCompletionSource, PostgreSQL, SQLDialect } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { SQLNames } from '../lib/sqlnames';

const dialect = SQLDialect.define({
  ...PostgreSQL.spec,
  keywords: [
    PostgreSQL.spec.keywords ?? '',
    'asof anti semi positional qualify exclude pivot unpivot summarize describe sample macro columns',
  ].join(' '),
});

const look = EditorView.theme({
  '&': {
    border: '1px solid var(--line)',
    borderRadius: '4px',
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    minHeight: '8rem',
    maxHeight: '50vh',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', fontSize: '0.9rem', minHeight: '8rem' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.4rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--frame0)',
  },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--heat1)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--ground)' },
  '.cm-completionInfo': { padding: '0.3rem 0.6rem', maxWidth: '28rem' },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--faster)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--slower)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--quiet)', fontStyle: 'italic' },
]);

// complete offers all relations and functions, and the columns of relations that the text names.
function complete(words: () => SQLNames | undefined) {
  return (context: CompletionContext): CompletionResult | null => {
    const known = words();
    const word = context.matchBefore(/\w*/);
    const inside = syntaxTree(context.state).resolveInner(context.pos, -1).name;
    if (
      known === undefined ||
      word === null ||
      (word.from === word.to && !context.explicit) ||
      inside === 'String' ||
      /Comment$/.test(inside)
    )
      return null;
    const named = new Set(context.state.doc.toString().toLowerCase().match(/\w+/g));
    const options: Completion[] = [];
    const columns = new Map<string, Completion>();
    for (const r of known.relations) {
      if (named.has(r.name)) {
        for (const c of [...r.columns, ...(r.parameters ?? [])]) {
          columns.set(c.name, {
            label: c.name,
            type: 'property',
            detail: [c.type, c.unit].filter((t) => t !== '').join(', '),
            info: c.meaning,
            boost: 2,
          });
        }
      }
      options.push({
        label: r.name,
        type: 'class',
        detail: r.kind,
        info: `A row is ${r.row}.`,
        boost: 1,
        ...(r.kind === 'macro' ? { apply: r.name + '(' } : {}),
      });
    }
    for (const f of known.functions) options.push({ label: f, type: 'function', apply: f + '(' });
    return { from: word.from, options: [...columns.values(), ...options], validFor: /^\w*$/ };
  };
}

// Editor shows the text `start`, and replaces its text whenever `start` changes.
export function Editor(p: {
  label: string;
  start: string;
  words: SQLNames | undefined;
  onInput: (text: string) => void;
  onRun: () => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const now = useRef(p);
  now.current = p;
  useLayoutEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: now.current.start,
        extensions: [
          lineNumbers(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          dialect.extension,
          autocompletion({ override: [complete(() => now.current.words), keywordCompletionSource(dialect, true)] }),
          syntaxHighlighting(colors),
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': p.label }),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) now.current.onInput(u.state.doc.toString());
          }),
          keymap.of([
            { key: 'Mod-Enter', run: () => (now.current.onRun(), true) },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);
  useLayoutEffect(() => {
    const state = view.current!.state;
    if (state.doc.toString() !== p.start)
      view.current!.dispatch({ changes: { from: 0, to: state.doc.length, insert: p.start } });
  }, [p.start]);
  return <div ref={host} class="editor" />;
}
