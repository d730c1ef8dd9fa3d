/** Why an upload failed. */
export type FailureKind =
  | 'quota'
  | 'disk-full'
  | 'too-large'
  | 'permission'
  | 'read-only'
  | 'gone'
  | 'locked'
  | 'name'
  | 'unreadable'
  | 'unreachable'
  | 'refused'

export interface Failure {
  readonly kind: FailureKind
  /** Message of the server, if any. */
  readonly message: string
}

/** Reaction to an error response. */
type Reaction =
  /** The server is unreachable: wait for the connection. */
  | 'cut'
  /** The upload link expired: get a new one. */
  | 'link'
  /** The offset does not match: ask the server for it. */
  | 'range'
  /** Retry after a pause. */
  | 'later'
  | Failure

/** The reaction to an error of the network. */
export function reactionTo(error: unknown): Reaction {
  const message = error instanceof Error ? error.message : String(error)
  const { status } = error as { status?: unknown }
  return typeof status === 'number' ? classifyResponse(status, message) : { kind: 'refused', message }
}

export function classifyResponse(status: number, message: string): Reaction {
  const failure = (kind: FailureKind): Failure => ({ kind, message })
  if (status === 0) return 'cut'
  if (status === 403 && /access token/i.test(message)) return 'link'
  if (status === 443 || /out of quota/i.test(message)) return failure('quota')
  if (status === 507) return failure('disk-full')
  if (status === 442 || status === 413) return failure('too-large')
  if (status === 440 && /filename/i.test(message)) return failure('name')
  if (status === 440 || /encrypted/i.test(message)) return failure('locked')
  if (status === 400 && /content-range/i.test(message)) return 'range'
  if (status === 404 || /parent dir/i.test(message)) return failure('gone')
  if (status === 403 && /not writable/i.test(message)) return failure('read-only')
  // The session ended. Uploads wait for the next one.
  if (status === 401) return 'later'
  if (status === 403) return failure('permission')
  if (status === 408 || status === 429 || status >= 500) return 'later'
  return failure('refused')
}

/** Scope of a failure: which other uploads will fail too. */
export function scopeOfFailure(kind: FailureKind): 'file' | 'folder' | 'library' {
  if (kind === 'read-only' || kind === 'locked') return 'library'
  if (kind === 'permission' || kind === 'gone') return 'folder'
  return 'file'
}
