import { inOrigin } from '../../commits/index.ts'
import { jsonResponse, map, required } from '../../http/index.ts'
import { joinPath, parseName, ROOT } from '../../objects/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { route } from '../services.ts'
import { refuseIfFull } from './quota-check.ts'

export const fileUploadedBytesRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file-uploaded-bytes/',
    auth: 'user',
    scope: 'upload',
    summary: 'Returns how many bytes of a resumable upload are stored.',
    params: { repo_id: libraryIdParam },
    query: { parent_dir: requiredPath(), file_name: map(required(), parseName) },
    async handle({ user, params, query }, services) {
      const library = await services.access.open(user, params.repo_id)
      const { path } = query.parent_dir
      const uploadedBytes =
        path === undefined
          ? 0
          : await services.partialUploads.uploadedBytes({
              libraryKey: library.info.key,
              accountKey: user.key,
              linkKey: 0,
              path: inOrigin(library.info, joinPath(path, query.file_name)),
            })
      // The folder of an upload with a relative path is created with the last chunk.
      if (uploadedBytes === 0) await folderAt(library, query.parent_dir)
      library.editable(path ?? ROOT)
      await refuseIfFull(services, library)
      return jsonResponse(200, { uploadedBytes }, { 'Accept-Ranges': 'bytes' })
    },
  }),
]
