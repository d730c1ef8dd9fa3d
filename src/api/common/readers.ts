import { errorMessage, type Reader, rawText } from '../../http/index.ts'
import {
  type CommitId,
  type LibraryId,
  type LibraryPath,
  parseCommitId,
  parseLibraryId,
  parsePath,
  ROOT,
} from '../../objects/index.ts'

/** A library's id in the path of a URL; what is none never reaches the handler. */
export const libraryIdParam: Reader<LibraryId> = (fields, name) =>
  parseLibraryId(fields.text(name) ?? '') ?? notFound()

/** A commit's id in the path of a URL. */
export const commitIdParam: Reader<CommitId> = (fields, name) =>
  parseCommitId(fields.text(name) ?? '') ?? notFound()

/**
 * A path as it was sent: what it means, and its text for the words of an error. A path that cannot
 * name anything (`..`, NUL, bytes that are no text) has no meaning; lookups then answer "not found".
 */
export interface SentPath {
  readonly text: string
  readonly path: LibraryPath | undefined
}

/** The path under a name; undefined if nothing, or nothing but an empty text, was sent. */
export const sentPath: Reader<SentPath | undefined> = (fields, name) => {
  const text = rawText()(fields, name)
  return text ? { text, path: parsePath(text) } : undefined
}

/** As sentPath, the root if nothing was sent. */
export const sentPathOrRoot: Reader<SentPath> = (fields, name) =>
  sentPath(fields, name) ?? { text: ROOT, path: ROOT }

/** As sentPath; refuses if nothing was sent. */
export function requiredPath(message?: string): Reader<SentPath> {
  return (fields, name) => {
    const sent = sentPath(fields, name)
    if (sent === undefined) throw errorMessage(400, message ?? `${name} invalid.`)
    return sent
  }
}

function notFound(): never {
  throw errorMessage(404, 'Not found.')
}

/** Whether a library that changes hands keeps its shares: anything but `false` or nothing, as clients know it. */
export const keepShares: Reader<boolean> = (fields, name) =>
  !['', 'false'].includes((rawText()(fields, name) ?? '').toLowerCase())
