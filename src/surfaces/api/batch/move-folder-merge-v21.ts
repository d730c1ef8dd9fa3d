import { fail } from '../../../base/errors.ts'
import { isStorableName, joinPath, toNfc } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { moveMerging } from '../../../libraries/edits/index.ts'
import { required } from '../../../platform/input/index.ts'
import { requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { batchFaults, openSent } from './batch-selection.ts'
import { openDestination } from './destination.ts'
import { route } from './services.ts'

export const batchMergeRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/move-folder-merge/',
    auth: 'user',
    summary: 'Moves a folder and merges it with a folder of the same name.',
    compatibility: 'supported',
    body: {
      src_repo_id: required(),
      src_parent_dir: requiredPath(),
      src_dirent_name: required(),
      dst_repo_id: required(),
      dst_parent_dir: requiredPath(),
    },
    faults: batchFaults,
    responses: () => ({ 200: json(kinds.successFlag, 'The folder was moved.') }),
    details: () => ({ errors: [409, 443] }),
    async handle({ user, body }, services) {
      const source = await openSent(services, user, body.src_repo_id)
      const { path: parent } = await folderAt(source, body.src_parent_dir)
      const name = body.src_dirent_name
      const path = joinPath(parent, toNfc(name))
      const found = isStorableName(name) ? await source.tree.find(path) : undefined
      if (found?.kind !== 'dir') fail({ code: 'path-not-found', path, wanted: 'Folder' })
      const destination = await openDestination(services, user, body.dst_repo_id, body.dst_parent_dir)
      const from = source.editable(parent)
      const to = destination.library.editable(destination.path)
      const roomLeft = services.quotas.roomLeft.bind(services.quotas)
      await moveMerging(services.core, from, path, to, destination.path, roomLeft)
      return { success: true }
    },
  }),
]
