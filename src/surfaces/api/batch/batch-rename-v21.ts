import { isStorableName, parseName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { renameMany } from '../../../libraries/edits/index.ts'
import { list, required } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { BATCH_BODY_BYTES, requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { batchFaults, openSent } from './batch-selection.ts'
import { route } from './services.ts'

/** Names that a message lists. */
const MAX_LISTED = 5

export const batchRenameRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/batch-rename-item/',
    auth: 'user',
    scope: 'write',
    summary: 'Renames several entries of a folder with one commit, or none of them.',
    compatibility: 'addition',
    body: {
      repo_id: required(),
      parent_dir: requiredPath(),
      dirents: list({ nonEmpty: true }),
      new_names: list({ nonEmpty: true }),
    },
    bodyLimit: BATCH_BODY_BYTES,
    faults: {
      ...batchFaults,
      locked: ({ path }) => [423, `File ${path.slice(path.lastIndexOf('/') + 1)} is locked.`],
    },
    responses: () => ({ 200: json(kinds.successFlag, 'All have their new names.') }),
    details: () => ({
      errors: [409, 423],
      parameters: {
        dirents: { description: 'Names in the folder.' },
        new_names: { description: 'Their new names, in the same order. Entries may exchange names.' },
      },
    }),
    async handle({ user, body }, services) {
      const library = await openSent(services, user, body.repo_id)
      const { path } = await folderAt(library, body.parent_dir)
      const newNames = readNewNames(body.dirents, body.new_names)
      const { result: taken } = await renameMany(services.core, library.editable(path), path, newNames)
      if (taken.length > 0) {
        const listed = taken.slice(0, MAX_LISTED).join(', ')
        const more = taken.length > MAX_LISTED ? ` and ${taken.length - MAX_LISTED} more` : ''
        throw errorMessage(409, `These names are taken: ${listed}${more}.`)
      }
      return { success: true }
    },
  }),
]

/** The new names by the present ones. */
function readNewNames(names: readonly string[], newNames: readonly string[]): Map<string, string> {
  if (names.length !== newNames.length) throw errorMessage(400, 'dirents and new_names differ in length.')
  if (new Set(names).size < names.length) throw errorMessage(400, 'dirents invalid.')
  return new Map(
    names.map((name, index) => {
      if (!isStorableName(name)) throw errorMessage(400, 'dirents invalid.')
      const sent = newNames[index] ?? ''
      return [name, parseName(sent) ?? invalid(sent)]
    }),
  )
}

function invalid(name: string): never {
  throw errorMessage(400, `The name ${name.toWellFormed().slice(0, 300)} is not allowed.`)
}
