import type { Piece } from './highlights.ts'

export function Highlighted(props: { pieces: readonly Piece[] }) {
  return props.pieces.map(({ text, isMatch }, index) =>
    // Parts have no other identity than their index.
    // oxlint-disable-next-line react/no-array-index-key
    isMatch ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>,
  )
}
