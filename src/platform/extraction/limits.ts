import type { WorkerLimits } from '../workers/runtime/index.ts'

const KiB = 1024
const MiB = 1024 * KiB

/** Limits of one extraction. Beyond them the text is cut, or the file is rejected. */
export interface Limits extends WorkerLimits {
  /** Bytes read of a format that is text from the start; the rest of the file is never asked for. */
  readonly plainBytes: number
  /** Bytes read of any other format. One that is of use only as a whole is refused if it is larger. */
  readonly inputBytes: number
  /** UTF-16 units of text handed out. */
  readonly textLength: number
  readonly archiveEntries: number
  /** Bytes unpacked of one entry of an archive; what follows is cut off. */
  readonly entryBytes: number
  /** Bytes unpacked of all entries of one file together, files within the file included. */
  readonly unpackedBytes: number
  /** Maximum nesting of files: attachments of attached messages. */
  readonly nesting: number
  /** Parts of one message, those of attached messages included. */
  readonly mailParts: number
}

/**
 * A million characters are five hundred pages: enough to find a file by, and little enough to keep for every file.
 * Four times as many bytes hold them in any encoding.
 */
export const defaultLimits: Limits = {
  plainBytes: 4 * MiB,
  inputBytes: 64 * MiB,
  textLength: MiB,
  workMs: 15_000,
  timeoutMs: 60_000,
  heapBytes: 256 * MiB,
  processBytes: 640 * MiB,
  archiveEntries: 10_000,
  entryBytes: 32 * MiB,
  unpackedBytes: 128 * MiB,
  nesting: 4,
  mailParts: 500,
}
