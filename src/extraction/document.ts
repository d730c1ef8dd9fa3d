import type { Limits } from './limits.ts'
import type { TextSink } from './text-sink.ts'

/** One file to be read: on its own, or within another. */
export interface Document {
  readonly name: string
  readonly bytes: Uint8Array
  /** There is more of it that nobody asked for. */
  readonly cut: boolean
}

/** What the readers of one extraction share. */
export interface Extraction {
  readonly limits: Limits
  readonly out: TextSink
  /** How many files the current one lies in. */
  depth: number
  unpackedBytes: number
  mailParts: number
  /** Reads a file found within another; does nothing if it is of a kind nobody can read. */
  readInner(document: Document): Promise<void>
}

/** Adds the text of a document to `extraction.out`. Throws `Unreadable`, or `TextFull` from the sink. */
export type Reader = (document: Document, extraction: Extraction) => void | Promise<void>
