import { Fragment, type ReactNode } from 'react'

/** A sentence with gaps, such as `{who} added {what}`, and what stands in them. Languages order them as they like. */
export function Sentence(props: { sentence: string; parts: Readonly<Record<string, ReactNode>> }) {
  return props.sentence.split(/\{(\w+)\}/).map((text, index) => (
    // Pieces have no other identity than their place.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>{index % 2 === 0 ? text : props.parts[text]}</Fragment>
  ))
}
