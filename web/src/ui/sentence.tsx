import { Fragment, type ReactNode } from 'react'

/** Fills the placeholders of a sentence such as `{who} added {what}`. Their order depends on the language. */
export function Sentence(props: { sentence: string; parts: Readonly<Record<string, ReactNode>> }) {
  return props.sentence.split(/\{(\w+)\}/).map((text, index) => (
    // Parts have no other identity than their index.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>{index % 2 === 0 ? text : props.parts[text]}</Fragment>
  ))
}
