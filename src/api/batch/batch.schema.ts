import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { placed } from '../files/files.schema.ts'
import { listing, listingHeaders } from '../folders/dirent.schema.ts'

const batchParameters = {
  src_repo_id: { description: 'The id of the source library.' },
  src_parent_dir: { description: 'The source folder.' },
  src_dirents: { description: 'Names in the source folder.' },
  dst_repo_id: { description: 'The id of the target library.' },
  dst_parent_dir: { description: 'The target folder.' },
}

// Existing clients expect the text.
const successText = kinds.record('SuccessText', { success: Type.Literal('true') })

const task = kinds.record('Task', {
  task_id: kinds.text('The id of the background task. Empty within one library, where it is already done.'),
})

const progress = kinds.record('TaskProgress', {
  done: kinds.count('The number of files that were processed.'),
  total: kinds.count('The number of files.'),
  canceled: kinds.flag(),
  failed: kinds.flag(),
  successful: kinds.flag(),
  failed_reason: kinds.text('Empty unless it failed.'),
})

const item = {
  src_repo_id: kinds.libraryId,
  dst_repo_id: kinds.libraryId,
  src_path: kinds.path,
  dst_path: kinds.path,
}

const results = kinds.record('BatchResults', {
  failed: Type.Array(Type.Object({ ...item, error_msg: kinds.text('Why it failed.') })),
  success: Type.Array(
    Type.Object({ ...item, dst_obj_name: kinds.text('The name, with a number if the name was taken.') }),
  ),
})

const pathsParameters = {
  paths: { required: true, description: 'A list of objects with `src_path` and `dst_path`.' },
} as const

const fileopsParameters = {
  dst_repo: { required: true, description: 'The id of the target library.' },
  dst_dir: { required: true, description: 'The target folder.' },
  file_names: { required: true },
  reloaddir: { description: 'Answers with the listing of the source folder instead.' },
} as const

const reloaded = json(listing, 'With `reloaddir`, the listing of the folder.', listingHeaders)

/** Copying, moving and deleting several entries at once, and the tasks that do it in the background. */
export const batchSchemas = [
  operation(
    'POST /api/v2.1/repos/sync-batch-copy-item/',
    { 200: json(successText, 'The entries were copied.') },
    { errors: [409, 443], parameters: batchParameters },
  ),
  operation(
    'POST /api/v2.1/repos/sync-batch-move-item/',
    { 200: json(successText, 'The entries were moved.') },
    { errors: [409, 443], parameters: batchParameters },
  ),
  operation(
    'DELETE /api/v2.1/repos/batch-delete-item/',
    {
      200: json(
        kinds.record('BatchDeleted', { success: Type.Literal(true), commit_id: kinds.objectId }),
        'The entries are gone. `commit_id` is the commit before, which still has them.',
      ),
    },
    { errors: [423], parameters: { dirents: { description: 'Names in the folder.' } } },
  ),
  operation(
    'POST /api/v2.1/repos/async-batch-copy-item/',
    { 200: json(task, 'The task.') },
    { errors: [409, 443], parameters: batchParameters },
  ),
  operation(
    'POST /api/v2.1/repos/async-batch-move-item/',
    { 200: json(task, 'The task.') },
    { errors: [409, 443], parameters: batchParameters },
  ),
  operation('GET /api/v2.1/query-copy-move-progress/', { 200: json(progress, 'The progress.') }),
  operation('DELETE /api/v2.1/copy-move-task/', { 200: json(kinds.successFlag, 'The task was canceled.') }),
  operation(
    'POST /api/v2.1/copy-move-task/',
    { 200: json(task, 'The task.') },
    {
      deprecated: true,
      errors: [409, 443],
      parameters: { ...batchParameters, src_dirent_name: { description: 'The name in the source folder.' } },
    },
  ),
  operation('POST /api/v2.1/repos/batch-create-dir/', {
    200: json(
      kinds.record('CreatedFolders', {
        failed: Type.Array(
          Type.Object({
            repo_id: kinds.libraryId,
            path: kinds.path,
            error_msg: kinds.text('Why it failed.'),
          }),
        ),
        success: Type.Array(Type.Object({ repo_id: kinds.libraryId, path: kinds.path })),
      }),
      'The result for each path.',
    ),
  }),
  operation(
    'POST /api/v2.1/move-folder-merge/',
    { 200: json(kinds.successFlag, 'The folder was moved.') },
    { errors: [409, 443] },
  ),
  operation(
    'POST /api2/repos/:repo_id/fileops/delete/',
    { 200: [json(kinds.successWord, 'The entries are gone.'), reloaded] },
    {
      deprecated: true,
      errors: [520],
      parameters: { p: { required: true }, file_names: { required: true } },
    },
  ),
  operation(
    'POST /api/v2.1/repos/batch-copy-item/',
    { 200: json(results, 'The result of each item.') },
    { deprecated: true, parameters: pathsParameters },
  ),
  operation(
    'POST /api/v2.1/repos/batch-move-item/',
    { 200: json(results, 'The result of each item.') },
    { deprecated: true, parameters: pathsParameters },
  ),
  operation(
    'POST /api2/repos/:repo_id/fileops/copy/',
    { 200: [json(Type.Array(placed), 'The copies.'), reloaded] },
    { deprecated: true, errors: [443, 520], parameters: fileopsParameters },
  ),
  operation(
    'POST /api2/repos/:repo_id/fileops/move/',
    { 200: [json(Type.Array(placed), 'The entries at their new places.'), reloaded] },
    { deprecated: true, errors: [443, 520], parameters: fileopsParameters },
  ),
]
