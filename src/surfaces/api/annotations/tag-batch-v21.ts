import { fail } from '../../../base/errors.ts'
import { type LibraryPath, parsePath } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { list, map, type Reader } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from './services.ts'

/** The files of a call. More would hold up other writes. */
const MAX_TAGGED_AT_ONCE = 200
const MAX_BODY_BYTES = 2 ** 20

/** The ids of tags, each once. */
const tagIds: Reader<number[]> = map(list(), (sent) => {
  const ids = sent.flatMap((text) => {
    const id = parseInteger(text)
    return id !== undefined && id > 0 && id < Number.MAX_SAFE_INTEGER ? [id] : []
  })
  return ids.length === sent.length ? [...new Set(ids)] : undefined
})

export const tagBatchRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/:repo_id/file-tags/batch/',
    auth: 'user',
    summary: 'Adds tags to several files and removes tags from them, of all files or of none.',
    compatibility: 'addition',
    params: { repo_id: libraryIdParam },
    body: { file_paths: list({ nonEmpty: true }), add: tagIds, remove: tagIds },
    bodyLimit: MAX_BODY_BYTES,
    faults: {
      'tag-not-found': () => [404, 'repo_tag not found.'],
    },
    responses: () => ({
      200: json(
        kinds.record('TaggedBatch', { changed: kinds.count('The number of files whose tags differ now.') }),
        'The files have the tags.',
      ),
    }),
    details: () => ({
      parameters: {
        file_paths: { description: `Paths in the library, at most ${MAX_TAGGED_AT_ONCE}.` },
        add: { description: 'The ids of tags that all of them get.' },
        remove: { description: 'The ids of tags that none of them keeps.' },
      },
    }),
    async handle({ user, params, body }, { tags }) {
      const { add, remove } = body
      if (body.file_paths.length > MAX_TAGGED_AT_ONCE) throw errorMessage(400, 'file_paths invalid.')
      if (add.some((id) => remove.includes(id))) throw errorMessage(400, 'remove invalid.')
      const paths = new Set(body.file_paths.map(filePath))
      const files = { user, libraryId: params.repo_id, paths: [...paths] }
      return { changed: await tags.tagFiles(files, { add, remove }) }
    },
  }),
]

function filePath(text: string): LibraryPath {
  return parsePath(text) ?? fail({ code: 'path-not-found', path: text, wanted: 'File' })
}
