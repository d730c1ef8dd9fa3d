import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { type LibraryPath, parsePath, ROOT } from '../../../base/paths/index.ts'
import { TimeSlicer } from '../../../base/scheduling/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { makeManyFolders } from '../../../libraries/edits/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { list, required } from '../../../platform/input/index.ts'
import { route } from './services.ts'

const words = { created: undefined, exists: 'Folder already exists.', refused: 'path invalid.' }

export const batchCreateDirRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/batch-create-dir/',
    auth: 'user',
    scope: 'write',
    summary: 'Creates several folders with their missing parents.',
    compatibility: 'supported',
    body: { repo_id: required(), paths: list({ nonEmpty: true }) },
    responses: () => ({
      200: json(
        kinds.record('CreatedFolders', {
          failed: kinds.array(
            kinds.object({
              repo_id: kinds.libraryId,
              path: kinds.path,
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
          success: kinds.array(kinds.object({ repo_id: kinds.libraryId, path: kinds.path })),
        }),
        'The result for each path.',
      ),
    }),
    async handle({ user, body }, { access }) {
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'library-not-found', id: body.repo_id })
      const library = await access.open(user, id)
      const errors = await makeAll(library, body.paths)
      const failed: object[] = []
      const success: object[] = []
      for (const [index, path] of body.paths.entries()) {
        const error = errors[index]
        if (error === undefined) success.push({ repo_id: id, path })
        else failed.push({ repo_id: id, path, error_msg: error })
      }
      return { failed, success }
    },
  }),
]

/** The error message of each invalid path. */
async function makeAll(library: Library, sent: readonly string[]): Promise<(string | undefined)[]> {
  if (library.permission !== 'rw') return sent.map(() => 'Permission denied.')
  const paths: (LibraryPath | undefined)[] = []
  const slicer = new TimeSlicer()
  for (const path of sent) {
    paths.push(parsePath(path))
    if (slicer.isDue) await slicer.rest()
  }
  const readable = paths.filter((path): path is LibraryPath => path !== undefined)
  const { result } = await makeManyFolders(library.editable(ROOT), readable)
  const outcomes = result.values()
  return paths.map((path) =>
    path === undefined ? 'path invalid.' : words[outcomes.next().value ?? 'refused'],
  )
}
