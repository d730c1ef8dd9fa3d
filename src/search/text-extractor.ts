/** A file whose text is wanted. */
export interface ExtractInput {
  readonly name: string
  readonly size: number
  readonly read: () => AsyncIterable<Buffer>
}

/** The text of a file, maybe not all of it; or why there is none. */
export type Extracted = { readonly text: string; readonly truncated: boolean } | { readonly reason: string }

/** Gets text out of files. */
export interface TextExtractor {
  extract(input: ExtractInput, options?: { signal?: AbortSignal }): Promise<Extracted>
  close(): Promise<void>
}
