import type { Extracted } from './extract-text.ts'
import type { Limits } from './limits.ts'

/** What a worker is told: a file begins, bytes of it, and that there are no more to come. */
export type ToWorker =
  | { readonly kind: 'begin'; readonly name: string; readonly limits: Limits }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly cut: boolean }

/** What a worker says: that it has started, and what it read. `tired` if it grew and should be let go. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly extracted: Extracted; readonly tired: boolean }
