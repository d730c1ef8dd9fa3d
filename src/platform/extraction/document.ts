import type { Limits } from './limits.ts'
import type { TextSink } from './text-sink.ts'

/** One file to be read: on its own, or within another. */
export interface Document {
  readonly name: string
  readonly bytes: Uint8Array
  /** Whether the bytes are only the beginning of the file. */
  readonly cut: boolean
}

/** The shared state of the readers of one extraction. */
export interface Extraction {
  readonly limits: Limits
  readonly out: TextSink
  /** Nesting depth of the current file. */
  depth: number
  unpackedBytes: number
  mailParts: number
  /** Reads an embedded file; ignores unsupported formats. */
  readInner(document: Document): Promise<void>
}

/** Adds the text of a document to `extraction.out`. Throws `Unreadable`, or `TextFull` from the sink. */
export type Reader = (document: Document, extraction: Extraction) => void | Promise<void>

/** Why a file gives no text, in words that follow "The file". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
