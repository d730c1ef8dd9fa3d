import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

/** An archive that is being packed. */
export const archiveTask = kinds.record('ArchiveTask', {
  zip_token: kinds.text('Names the archive, and authorizes its download at `/seafhttp/zip/<zip_token>`.'),
})

const archiveProgress = kinds.record('ArchiveProgress', {
  zipped: kinds.count('The number of files that were packed.'),
  total: kinds.count('The number of files. The archive is ready when `zipped` equals it.'),
  failed: Type.Union([Type.Literal(0), Type.Literal(1)]),
  failed_reason: kinds.text('Empty unless it failed.'),
  canceled: Type.Union([Type.Literal(0), Type.Literal(1)]),
})

const folder = { description: 'The folder. Default: the root.' }
const from = { description: '`web`: a link for browsers. Default: `api`.' }

/** Links for uploads and downloads, and archives. */
export const transferLinkSchemas = [
  operation('POST /api/v2.1/repos/:repo_id/zip-task/', { 200: json(archiveTask, 'The archive.') }),
  operation('GET /api/v2.1/repos/:repo_id/zip-task/', { 200: json(archiveTask, 'The archive.') }),
  operation('POST /api/v2.1/cancel-zip-task/', { 200: json(kinds.successFlag, 'The archive is canceled.') }),
  operation('GET /api/v2.1/query-zip-progress/', { 200: json(archiveProgress, 'The progress.') }),
  operation(
    'GET /api2/repos/:repo_id/upload-link/',
    { 200: json(kinds.url, 'The URL to upload files to.') },
    {
      errors: [443],
      parameters: { p: folder, from, replace: { description: 'Uploads replace files of the same name.' } },
    },
  ),
  operation(
    'GET /api2/repos/:repo_id/update-link/',
    { 200: json(kinds.url, 'The URL to send new content to.') },
    { errors: [443], parameters: { p: { description: 'A folder, or the file to replace.' }, from } },
  ),
  operation(
    'POST /api2/repos/:repo_id/upload-blks-link/',
    {
      200: json(
        kinds.record('BlockUpload', {
          rawblksurl: kinds.url,
          commiturl: kinds.url,
          blklist: Type.Array(kinds.objectId, { description: 'The blocks that the server lacks.' }),
        }),
        'The URLs for the blocks and for the file.',
      ),
    },
    {
      errors: [443],
      parameters: { p: folder, blklist: { description: 'The ids of the blocks, separated by commas.' } },
    },
  ),
  operation(
    'GET /api2/repos/:repo_id/upload-blks-link/',
    { 200: json(kinds.url, 'The URL to create files from blocks.') },
    { errors: [443], parameters: { p: folder } },
  ),
  operation('GET /api2/repos/:repo_id/files/:file_id/blks/:block_id/download-link/', {
    200: json(kinds.url, 'The URL to download the block.'),
  }),
  operation(
    'GET /api2/repos/:repo_id/update-blks-link/',
    { 200: json(kinds.url, 'The URL to replace files with blocks.') },
    { errors: [443], parameters: { p: { description: 'A folder, or the file to replace.' } } },
  ),
  operation(
    'GET /api/v2.1/repos/:repo_id/file-uploaded-bytes/',
    {
      200: json(
        kinds.record('UploadedBytes', { uploadedBytes: kinds.count('The offset at which to continue.') }),
        'What is stored of the upload.',
        { 'Accept-Ranges': '`bytes`: uploads can be resumed.' },
      ),
    },
    {
      errors: [443],
      parameters: {
        parent_dir: { description: 'The folder of the upload.' },
        file_name: { description: 'The name of the file.' },
      },
    },
  ),
]
