import { parentOf } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { removeOne } from '../../../libraries/edits/index.ts'
import { fileLocks } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { withFaultMessages } from '../common/fault-messages.ts'
import { libraryAt, pointInTime } from '../common/point-in-time.ts'
import { libraryIdParam, operationOf, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { fileInfoToWire } from './entry-wire.ts'
import { lockSeconds } from './file-lock-v2.ts'
import { fileInfo, moment } from './files.schema.ts'
import { route } from './services.ts'

const lockOperation = operationOf(
  ['lock', 'unlock', 'refresh-lock'],
  "operation can only be 'lock', 'unlock' or 'refresh-lock'.",
)

export const fileRoutesV21 = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Describes a file: id, size, mtime and lock.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath(), ...pointInTime },
    responses: () => ({ 200: json(fileInfo, 'The file.') }),
    details: () => ({ parameters: moment }),
    async handle({ user, params, query }, services) {
      const library = await libraryAt(await services.access.open(user, params.repo_id), query)
      const file = await fileAt(library, query.p)
      const lock = await fileLocks.at(services.core, library, file.path)
      return fileInfoToWire(params.repo_id, file, lock !== undefined)
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v2.1/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Locks or unlocks a file, or extends a lock.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/in.txt' }, form: { operation: 'lock' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath() },
    body: {
      operation: lockOperation,
      expire: lockSeconds,
    },
    faults: {
      'already-locked': () => [400, 'File is locked'],
      'not-locked': () => [400, 'File is not locked.'],
      'lock-not-yours': () => [403, 'You can not unlock this file.'],
    },
    responses: () => ({ 200: json(fileInfo, 'The file.') }),
    details: () => ({
      parameters: {
        expire: {
          description: 'Seconds until the lock ends; 0 for the default of the server, negative for never.',
        },
      },
    }),
    async handle({ user, params, query, body, request }, { access, core }) {
      const library = await access.open(user, params.repo_id)
      const file = await fileAt(library, query.p)
      const { path } = file
      const editable = library.editable(parentOf(path))
      if (body.operation === 'unlock') {
        const breaker = access.mayBreakLocks(user, library) ? auditActor(user, request) : undefined
        await fileLocks.unlock(core, editable, path, breaker)
      } else if (body.operation === 'lock') await fileLocks.lock(core, editable, path, body.expire)
      else {
        const words = { 'lock-not-yours': notYoursToRefresh }
        await withFaultMessages(words, () => fileLocks.refresh(core, editable, path, body.expire))
      }
      return fileInfoToWire(params.repo_id, file, body.operation !== 'unlock')
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/:repo_id/file/',
    auth: 'user',
    summary: 'Deletes a file. Idempotent.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params: { repo_id: libraryIdParam },
    query: { p: requiredPath() },
    faults: { locked: () => [423, 'File is locked'] },
    responses: () => ({
      200: json(
        kinds.record('FileDeleted', {
          success: kinds.literal(true),
          commit_id: kinds.optional(kinds.objectId),
        }),
        'The file is gone. `commit_id` is the commit before, which still has it.',
      ),
    }),
    details: () => ({ errors: [423] }),
    async handle({ user, params, query }, { access, core }) {
      const library = await access.open(user, params.repo_id)
      const { path } = query.p
      const entry = path && (await library.tree.find(path))
      // Folders are not deleted here, so that a client that mistakes one for a file loses nothing.
      if (path === undefined || entry?.kind !== 'file') return { success: true }
      const { before } = await removeOne(core, library.editable(parentOf(path)), path)
      return { success: true, commit_id: before.head }
    },
  }),
]

function notYoursToRefresh(): [number, string] {
  return [403, "You can not refresh this file's lock."]
}
