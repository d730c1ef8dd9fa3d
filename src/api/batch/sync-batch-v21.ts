import { list, required } from '../../http/index.ts'
import { copy, move, remove } from '../../library/index.ts'
import { isStorableName } from '../../objects/index.ts'
import { requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { route } from '../services.ts'
import { batchBody, batchFaults, openCopyBatch, openMoveBatch, openSent } from './batch-selection.ts'
import { BATCH_BODY_BYTES } from './body-limit.ts'

export const batchItemRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/repos/sync-batch-copy-item/',
    auth: 'user',
    scope: 'write',
    summary: 'Copies entries of a folder to another, synchronously.',
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
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
    body: batchBody,
    bodyLimit: BATCH_BODY_BYTES,
    faults: batchFaults,
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
    body: { repo_id: required(), parent_dir: requiredPath(), dirents: list({ nonEmpty: true }) },
    bodyLimit: BATCH_BODY_BYTES,
    faults: {
      ...batchFaults,
      locked: ({ path }) => [423, `File ${path.slice(path.lastIndexOf('/') + 1)} is locked.`],
    },
    async handle({ user, body }, services) {
      const library = await openSent(services, user, body.repo_id)
      const { path } = await folderAt(library, body.parent_dir)
      const names = body.dirents.filter(isStorableName)
      const { before } = await remove(services.core, library.editable(path), path, names)
      return { success: true, commit_id: before.head }
    },
  }),
]
