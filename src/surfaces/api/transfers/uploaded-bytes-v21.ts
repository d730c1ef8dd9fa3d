import { joinPath, parseName, ROOT } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { inOrigin } from '../../../libraries/registry/index.ts'
import { map, required } from '../../../platform/input/index.ts'
import { jsonResponse } from '../../../platform/responses/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { folderAt } from '../common/resolve-path.ts'
import { refuseIfFull } from './quota-check.ts'
import { route } from './services.ts'

export const fileUploadedBytesRoutes = [
  route({
    method: 'GET',
    path: '/api/v2.1/repos/:repo_id/file-uploaded-bytes/',
    auth: 'user',
    scope: 'upload',
    summary: 'Returns how many bytes of a resumable upload are stored.',
    compatibility: 'supported',
    callers: 'writers',
    sample: { query: { parent_dir: '/', file_name: 'x.bin' } },
    params: { repo_id: libraryIdParam },
    query: { parent_dir: requiredPath(), file_name: map(required(), parseName) },
    responses: () => ({
      200: json(
        kinds.record('UploadedBytes', { uploadedBytes: kinds.count('The offset at which to continue.') }),
        'What is stored of the upload.',
        { 'Accept-Ranges': '`bytes`: uploads can be resumed.' },
      ),
    }),
    details: () => ({
      errors: [443],
      parameters: {
        parent_dir: { description: 'The folder of the upload.' },
        file_name: { description: 'The name of the file.' },
      },
    }),
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
