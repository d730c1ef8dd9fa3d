import { createHash } from 'node:crypto'
import type { Dirent } from '../../base/objects/index.ts'
import { accountRequester, visitorRequester } from '../../base/scheduling/index.ts'
import type { ArchiveProgress, ArchiveRow } from '../../libraries/archives/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import type { TicketOptions } from '../../sharing/access/index.ts'

/** The content and the name of a requested archive. */
export interface ArchiveRequest {
  /** Entries of the library's tree, each at the top of the archive. */
  readonly roots: readonly Dirent[]
  /** The file name of the archive. */
  readonly name: string
  /** The link it was requested through. */
  readonly link?: TicketOptions['link']
}

/** The requester that an archive counts for: the account, or the link for its visitors. */
export function requesterOf(library: Library, { link }: Pick<ArchiveRequest, 'link'>): string {
  return link === undefined ? accountRequester(library.actor.key) : visitorRequester(String(link.key))
}

/** Equal for the same content and name. */
export function identityOf(library: Library, { roots, name }: ArchiveRequest): Buffer {
  const entries = roots.map((root) => [root.kind, root.id, root.name, root.mtime])
  const text = JSON.stringify([library.info.key, name, entries])
  return createHash('sha256').update(text).digest()
}

/**
 * `zipped` equals `total` exactly when the archive can be downloaded: until all files are counted it is 0 of 1,
 * and the last file counts when the archive is complete.
 */
export function progressOf(
  { state, total = 0, packed, failure }: Pick<ArchiveRow, 'state' | 'total' | 'packed' | 'failure'>,
  isCanceled = false,
): ArchiveProgress {
  const canceled = isCanceled || state === 'canceled'
  if (state === 'finished' && !canceled) return { zipped: total, total, failure, canceled }
  if (total === 0) return { zipped: 0, total: 1, failure, canceled }
  return { zipped: Math.min(packed, total - 1), total, failure, canceled }
}
