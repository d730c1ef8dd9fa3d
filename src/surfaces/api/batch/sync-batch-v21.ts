import { isStorableName } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { copy, move, remove } from '../../../libraries/edits/index.ts'
import { list, required } from '../../../platform/input/index.ts'
import { BATCH_BODY_BYTES, requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { batchParameters, successText } from './batch.schema.ts'
import { batchBody, batchFaults, openCopyBatch, openMoveBatch, openSent } from './batch-selection.ts'
import { route } from './services.ts'

export const batchItemRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/sync-batch-copy-item/',
    auth: 'user',
    scope: 'write',
    summary: 'Copies entries of a folder to another, synchronously.',
    compatibility: { result: 'different', note: 'A missing name is 404 before anything is copied.' },
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
    responses: () => ({ 200: json(successText, 'The entries were copied.') }),
    details: () => ({ errors: [409, 443], parameters: batchParameters }),
    async handle({ user, body }, services) {
      const { source, selection, target, folder } = await openCopyBatch(services, user, body)
      await copy(services.core, source, selection, target, folder, (library) =>
        services.quotas.roomLeft(library),
      )
      return { success: 'true' }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/repos/sync-batch-move-item/',
    auth: 'user',
    scope: 'write',
    summary: 'Moves entries of a folder to another, synchronously.',
    compatibility: { result: 'different', note: 'A missing name is 404 before anything is moved.' },
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
    responses: () => ({ 200: json(successText, 'The entries were moved.') }),
    details: () => ({ errors: [409, 443], parameters: batchParameters }),
    async handle({ user, body }, services) {
      const { source, selection, target, folder } = await openMoveBatch(services, user, body)
      await move(services.core, source, selection, target, folder, (library) =>
        services.quotas.roomLeft(library),
      )
      return { success: 'true' }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/repos/batch-delete-item/',
    auth: 'user',
    scope: 'write',
    summary: 'Deletes entries of a folder by name; missing ones are ignored.',
    compatibility: 'supported',
    body: { repo_id: required(), parent_dir: requiredPath(), dirents: list({ nonEmpty: true }) },
    bodyLimit: BATCH_BODY_BYTES,
    faults: {
      ...batchFaults,
      locked: ({ path }) => [423, `File ${path.slice(path.lastIndexOf('/') + 1)} is locked.`],
    },
    responses: () => ({
      200: json(
        kinds.record('BatchDeleted', { success: kinds.literal(true), commit_id: kinds.objectId }),
        'The entries are gone. `commit_id` is the commit before, which still has them.',
      ),
    }),
    details: () => ({ errors: [423], parameters: { dirents: { description: 'Names in the folder.' } } }),
    async handle({ user, body }, services) {
      const library = await openSent(services, user, body.repo_id)
      const { path } = await folderAt(library, body.parent_dir)
      const names = body.dirents.filter(isStorableName)
      const { before } = await remove(services.core, library.editable(path), path, names)
      return { success: true, commit_id: before.head }
    },
  }),
]
