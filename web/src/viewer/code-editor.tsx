import { HighlightStyle, LanguageDescription, syntaxHighlighting } from '@codemirror/language'
import { languages } from '@codemirror/language-data'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { basicSetup } from 'codemirror'
import { useEffect, useRef } from 'react'
import { nonce } from '../site-url.ts'
import { useTexts } from '../texts/index.ts'

// Colours are CSS variables, so both themes work.
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit], color: 'var(--star)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.processingInstruction], color: 'var(--muted)' },
  { tag: [tags.typeName, tags.className, tags.tagName, tags.namespace], color: 'var(--accent-strong)' },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName)], fontWeight: '600' },
  { tag: [tags.heading, tags.strong], fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], color: 'var(--accent)', textDecoration: 'underline' },
  { tag: [tags.invalid, tags.deleted], color: 'var(--warn)' },
])

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--card)', color: 'var(--ink)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '&.cm-focused .cm-content:focus-visible': { outline: 'none' },
  // The lines of a text have the direction of their letters, and lines without any go from left to right, as in code.
  '.cm-scroller': { direction: 'ltr', fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', paddingBottom: '40px' },
  '.cm-line': { unicodeBidi: 'plaintext' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--wash)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 55%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--accent-wash)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selected)' },
  '.cm-searchMatch': { backgroundColor: 'var(--accent-wash)', outline: '1px solid var(--accent)' },
  '.cm-searchMatch.cm-searchMatch-selected': { backgroundColor: 'var(--selected)' },
  '.cm-panels': { backgroundColor: 'var(--wash)', color: 'var(--ink)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-textfield::placeholder': { color: 'var(--muted)', opacity: 1 },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '6px 8px',
    paddingBlock: '8px',
    paddingInline: '12px 44px',
    fontSize: '13.5px',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%', content: '""', height: 0 },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '6px',
    margin: 0,
    fontSize: 'inherit',
  },
  '.cm-panel.cm-search input[type=checkbox]': { width: '16px', height: '16px', margin: 0 },
  '.cm-panel.cm-search :is(.cm-textfield, .cm-button)': {
    minHeight: '32px',
    margin: 0,
    padding: '3px 10px',
    fontSize: 'inherit',
  },
  '.cm-panel.cm-search .cm-textfield': { flex: '0 1 240px', minWidth: '120px' },
  '.cm-panel.cm-search [name=close]': {
    top: '8px',
    right: 'auto',
    insetInlineEnd: '8px',
    width: '32px',
    height: '32px',
    fontSize: '22px',
    lineHeight: 1,
  },
  '.cm-textfield': {
    backgroundColor: 'var(--card)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--card)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--card)', border: '1px solid var(--line)', color: 'var(--ink)' },
})

/** Text editor, or a read-only view. `text` is the initial content; changes are reported. */
export default function CodeEditor(props: {
  /** File name, which determines the language. Plain text has none. */
  name: string
  text: string
  editable: boolean
  label: string
  onChange: (text: string) => void
}) {
  const texts = useTexts('viewer')
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  latest.current = props
  const { phrases } = texts
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    const { name, text, editable, label } = latest.current
    const language = new Compartment()
    const view = new EditorView({
      parent,
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        EditorState.phrases.of(phrases),
        editable ? basicSetup : lineNumbers(),
        syntaxHighlighting(highlighting),
        look,
        EditorView.lineWrapping,
        EditorView.perLineTextDirection.of(true),
        EditorState.readOnly.of(!editable),
        EditorView.editable.of(editable),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        language.of([]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onChange(update.state.doc.toString())
        }),
      ],
    })
    if (editable) view.focus()
    let isGone = false
    const description = name === '' ? null : LanguageDescription.matchFilename(languages, name)
    const highlight = async () => {
      const support = await description?.load()
      if (support !== undefined && !isGone) view.dispatch({ effects: language.reconfigure(support) })
    }
    // If the language fails to load, the text is shown without highlighting.
    highlight().catch(() => undefined)
    return () => {
      isGone = true
      view.destroy()
    }
  }, [phrases])
  return <div ref={place} className="viewer-editor" />
}
