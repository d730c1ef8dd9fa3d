import type { CSSProperties } from 'react'

const MAX_LINES = 200
const MAX_SIGNS = 40_000

/** Beginning of a text, shown until the editor is loaded. */
export function PlainText(props: { text: string }) {
  const lines = props.text.slice(0, MAX_SIGNS).split('\n', MAX_LINES)
  const digits = String(props.text.split('\n').length).length
  // Lines have no other identity than their number.
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
