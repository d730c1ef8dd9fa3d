import { kinds } from '../../../base/schemas/index.ts'

/** An archive that is being packed. */
export const archiveTask = kinds.record('ArchiveTask', () => ({
  zip_token: kinds.text('Names the archive, and authorizes its download at `/seafhttp/zip/<zip_token>`.'),
}))

export const archiveProgress = kinds.record('ArchiveProgress', () => ({
  zipped: kinds.count('The number of files that were packed.'),
  total: kinds.count('The number of files. The archive is ready when `zipped` equals it.'),
  failed: kinds.anyOf([kinds.literal(0), kinds.literal(1)]),
  failed_reason: kinds.text('Empty unless it failed.'),
  canceled: kinds.anyOf([kinds.literal(0), kinds.literal(1)]),
}))

export const folder = { description: 'The folder. Default: the root.' }
export const from = { description: '`web`: a link for browsers. Default: `api`.' }
