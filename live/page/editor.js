// The editor: CodeMirror, with the words of Python or of Cython, in the colours of the site.
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching, foldGutter, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting,
} from '@codemirror/language';
import { cython, python } from '@codemirror/legacy-modes/mode/python';
import { setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { _ } from './language.js';

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.definition(tags.variableName), tags.className], color: 'var(--code-name)' },
  { tag: [tags.standard(tags.variableName), tags.typeName], color: 'var(--code-type)' },
  { tag: tags.meta, color: 'var(--code-type)' },
]);

const LOOK = EditorView.theme({
  '&': { height: '100%', fontSize: '13.5px', backgroundColor: 'var(--color-code-background)', color: 'var(--color-code-foreground)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-stack--monospace)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--color-foreground-muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-foreground-primary)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection) !important' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection) !important' },
  '.cm-panels': { backgroundColor: 'var(--color-background-secondary)', color: 'inherit' },
});

/** What the editor itself says, its panel for searching above all. */
const phrases = () => EditorState.phrases.of({
  Find: _('Find'), next: _('next'), previous: _('previous'), all: _('all'), 'match case': _('match case'), regexp: _('regexp'),
  'by word': _('by word'), Replace: _('Replace'), replace: _('replace'), 'replace all': _('replace all'), close: _('close'),
  'current match': _('current match'), 'replaced $ matches': _('replaced $ matches'), 'replaced match on line $': _('replaced match on line $'),
  'on line': _('on line'), 'Go to line': _('Go to line'), go: _('go'), 'Fold line': _('Fold line'), 'Unfold line': _('Unfold line'),
  'Folded lines': _('Folded lines'), 'Unfolded lines': _('Unfolded lines'), 'folded code': _('folded code'), unfold: _('unfold'), to: _('to'),
  Diagnostics: _('Diagnostics'), 'No diagnostics': _('No diagnostics'), 'Selection deleted': _('Selection deleted'),
});

/** The language of a file by its name. */
const languageOf = file => StreamLanguage.define(/\.(pyx|pxd)$/.test(file) ? cython : python);

export class Editor {
  /** `changed()` is called when the reader writes, `run()` at Ctrl+Enter. */
  constructor(parent, { label, changed = () => {}, run = () => {}, numbers = true }) {
    this.numbers = numbers;
    this.label = label;
    this.changed = changed;
    this.run = run;
    this.view = new EditorView({ parent, state: this.state('', 'empty.py') });
  }

  state(text, file) {
    const heard = EditorView.updateListener.of(update => {
      if (update.docChanged && !this.isSetting) this.changed();
    });
    const keys = [{ key: 'Mod-Enter', run: () => (this.run(), true) }, { key: 'Mod-s', run: () => (this.run('save'), true) }];
    return EditorState.create({
      doc: text,
      extensions: [
        keymap.of([...keys, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
        history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), highlightSelectionMatches(),
        this.numbers ? [lineNumbers(), foldGutter(), highlightActiveLine()] : [],
        indentUnit.of('    '), EditorState.tabSize.of(4), languageOf(file), syntaxHighlighting(COLOURS), LOOK, heard, phrases(),
        EditorView.contentAttributes.of({ 'aria-label': this.label, spellcheck: 'false' }),
      ],
    });
  }

  /** Another file: its undo history begins here. */
  open(text, file) {
    this.view.setState(this.state(text, file));
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Another text for the same file; undo brings the old one back. */
  set text(text) {
    this.isSetting = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.isSetting = false;
  }

  /** Go to the first place that has this text; whether there is one. */
  goTo(wanted) {
    const at = this.text.indexOf(wanted);
    if (at >= 0) this.select(at);
    return at >= 0;
  }

  /** Mark a line (from 1), with a message, and go there. */
  mark(line, message) {
    const { doc } = this.view.state;
    const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
    this.view.dispatch(setDiagnostics(this.view.state, [{ from, to, severity: 'error', message }]));
    this.select(from);
  }

  unmark() {
    this.view.dispatch(setDiagnostics(this.view.state, []));
  }

  select(at) {
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
  }

  focus() {
    this.view.focus();
  }
}
