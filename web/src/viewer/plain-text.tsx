import type { CSSProperties } from 'react'

const MOST_LINES = 200
const MOST_SIGNS = 40_000

/** The beginning of a text, as the editor will show it: to be read until the editor is there. */
export function PlainText(props: { text: string }) {
  const lines = props.text.slice(0, MOST_SIGNS).split('\n', MOST_LINES)
  const digits = String(props.text.split('\n').length).length
  // Lines have no names but their numbers, and these never change.
  const numbered = lines.map((line, index) => ({ line, number: index + 1 }))
  return (
    <div className="viewer-editor viewer-plain" style={{ '--digits': digits } as CSSProperties}>
      {numbered.map(({ line, number }) => (
        <div key={number} className="viewer-plain-line" data-number={number}>
          {line}
        </div>
      ))}
    </div>
  )
}
