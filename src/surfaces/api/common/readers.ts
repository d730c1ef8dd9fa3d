import { type CommitId, type LibraryId, parseCommitId, parseLibraryId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath, ROOT } from '../../../base/paths/index.ts'
import { accepting, type Reader, rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'

/** Body limit of batch calls, in bytes: enough for 10,000 of the longest names in any encoding. */
export const BATCH_BODY_BYTES = 8 * 2 ** 20

/** A library's id in the path of a URL. Anything else is answered with 404. */
export const libraryIdParam: Reader<LibraryId> = accepting(
  {
    type: 'string',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    description: 'The id of a library.',
  },
  (fields, name) => parseLibraryId(fields.text(name) ?? '') ?? notFound(),
)

/** A commit's id in the path of a URL. */
export const commitIdParam: Reader<CommitId> = accepting(
  { type: 'string', pattern: '^[0-9a-f]{40}$', description: 'The id of a commit.' },
  (fields, name) => parseCommitId(fields.text(name) ?? '') ?? notFound(),
)

/**
 * A path parameter: the parsed path, and its text for error messages. A path that cannot
 * exist (`..`, NUL, invalid UTF-8) is undefined, and lookups answer "not found".
 */
export interface SentPath {
  readonly text: string
  readonly path: LibraryPath | undefined
}

/** A path parameter; undefined if absent or empty. */
export const sentPath: Reader<SentPath | undefined> = accepting(
  { type: 'string', description: 'A path in the library, from its root.' },
  (fields, name) => {
    const text = rawText()(fields, name)
    return text ? { text, path: parsePath(text) } : undefined
  },
)

/** As sentPath; the root if absent. */
export const sentPathOrRoot: Reader<SentPath> = accepting(
  { type: 'string', default: '/', description: 'A path in the library, from its root.' },
  (fields, name) => sentPath(fields, name) ?? { text: ROOT, path: ROOT },
)

/** As sentPath; rejects an absent path. */
export function requiredPath(message?: string): Reader<SentPath> {
  return accepting(
    { type: 'string', required: true, description: 'A path in the library, from its root.' },
    (fields, name) => {
      const sent = sentPath(fields, name)
      if (sent === undefined) throw errorMessage(400, message ?? `${name} invalid.`)
      return sent
    },
  )
}

function notFound(): never {
  throw errorMessage(404, 'Not found.')
}

/** Whether a transferred library keeps its shares: any value except `false` and none, as existing clients expect. */
export const keepShares: Reader<boolean> = accepting(
  { type: 'string', description: 'Whether shares are kept: any text but `false`.' },
  (fields, name) => !['', 'false'].includes((rawText()(fields, name) ?? '').toLowerCase()),
)

/** `operation` in any case. Rejects a missing value with "operation invalid.", an unknown one with `message`. */
export function operationOf<const T extends string>(messages: readonly T[], message: string): Reader<T> {
  return accepting({ type: 'string', enum: messages, required: true }, (fields, name) => {
    const sent = fields.text(name)
    if (!sent) throw errorMessage(400, `${name} invalid.`)
    const found = messages.find((word) => word === sent.toLowerCase())
    if (found === undefined) throw errorMessage(400, message)
    return found
  })
}
