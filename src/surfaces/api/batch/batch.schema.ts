import { json, kinds } from '../../../base/schemas/index.ts'
import { listing, listingHeaders } from '../folders/dirent.schema.ts'

export const batchParameters = {
  src_repo_id: { description: 'The id of the source library.' },
  src_parent_dir: { description: 'The source folder.' },
  src_dirents: { description: 'Names in the source folder.' },
  dst_repo_id: { description: 'The id of the target library.' },
  dst_parent_dir: { description: 'The target folder.' },
}

// Existing clients expect the text.
export const successText = kinds.record('SuccessText', () => ({ success: kinds.literal('true') }))

export const task = kinds.record('Task', () => ({
  task_id: kinds.text('The id of the background task. Empty within one library, where it is already done.'),
}))

export const progress = kinds.record('TaskProgress', () => ({
  done: kinds.count('The number of files that were processed.'),
  total: kinds.count('The number of files.'),
  canceled: kinds.flag(),
  failed: kinds.flag(),
  successful: kinds.flag(),
  failed_reason: kinds.text('Empty unless it failed.'),
}))

const item = {
  src_repo_id: kinds.libraryId,
  dst_repo_id: kinds.libraryId,
  src_path: kinds.path,
  dst_path: kinds.path,
}

export const results = kinds.record('BatchResults', () => ({
  failed: kinds.array(kinds.object({ ...item, error_msg: kinds.text('Why it failed.') })),
  success: kinds.array(
    kinds.object({ ...item, dst_obj_name: kinds.text('The name, with a number if the name was taken.') }),
  ),
}))

export const pathsParameters = {
  paths: { required: true, description: 'A list of objects with `src_path` and `dst_path`.' },
} as const

export const fileopsParameters = {
  dst_repo: { required: true, description: 'The id of the target library.' },
  dst_dir: { required: true, description: 'The target folder.' },
  file_names: { required: true },
  reloaddir: { description: 'Answers with the listing of the source folder instead.' },
} as const

export const reloaded = json(listing, 'With `reloaddir`, the listing of the folder.', listingHeaders)

/** The new location of a file or folder. */
export const placed = kinds.record('Placed', () => ({
  repo_id: kinds.libraryId,
  parent_dir: kinds.folderPath,
  obj_name: kinds.text('The name, with a number if the name was taken.'),
}))
