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
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
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
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '12px', lineHeight: '19px', minHeight: '8rem' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.4rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--frame0)',
  },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--heat1)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--ground)' },
  '.cm-wrong': { backgroundColor: 'var(--slower-ground)', boxShadow: 'inset 3px 0 var(--slower)' },
  '.cm-completionInfo': { padding: '0.3rem 0.6rem', maxWidth: '28rem' },
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--faster)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--slower)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--quiet)', fontStyle: 'italic' },
]);

// markWrong marks a line with an error; undefined: none.
const markWrong = StateEffect.define<number | undefined>();
const wrongLine = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    let next = change.docChanged ? Decoration.none : marks;
    for (const e of change.effects) {
      if (!e.is(markWrong)) continue;
      next =
        e.value === undefined || e.value > change.state.doc.lines
          ? Decoration.none
          : Decoration.set(
              Decoration.line({ class: 'cm-wrong', attributes: { 'aria-invalid': 'true' } }).range(
                change.state.doc.line(e.value).from,
              ),
            );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

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
  wrong: number | undefined; // the line with an error
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
          wrongLine,
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
  useLayoutEffect(() => view.current!.dispatch({ effects: markWrong.of(p.wrong) }), [p.wrong, p.start]);
  return <div ref={host} class="editor" />;
}
