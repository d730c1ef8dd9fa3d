import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'
import { page, storedOnDisk } from '../admin/admin.schema.ts'

const usage = {
  current: kinds.count('Bytes of the current content.'),
  trash: kinds.count('Bytes that only the trash needs.'),
  history: kinds.count('Bytes that only the history needs.'),
  unreferenced: kinds.count('Bytes that nothing needs any more. Garbage collection frees them.'),
  shared: kinds.count('Bytes of those above that other libraries need too.'),
  total: kinds.count('The sum of the first four.'),
}

/** Stored bytes by purpose. */
export const usageSchemas = [
  operation('GET /api/v2.1/repos/:repo_id/usage/', {
    200: json(
      kinds.record('LibraryUsage', {
        repo_id: kinds.libraryId,
        is_current: kinds.flag('Whether nothing changed since they were counted.'),
        ...usage,
        blocks: kinds.count('The number of blocks.'),
        computed_at: kinds.isoTime,
      }),
      'The stored bytes.',
    ),
    202: json(
      kinds.record('UncountedLibrary', { repo_id: kinds.libraryId, is_current: kinds.flag() }),
      'They are being counted for the first time.',
      { 'Retry-After': 'Seconds after which to ask again.' },
    ),
  }),
  operation('GET /api/v2.1/admin/usage/', {
    200: json(
      kinds.record('AccountUsages', {
        page_info: page,
        stored: Type.Optional(storedOnDisk),
        accounts: Type.Array(
          kinds.record('AccountUsage', {
            email: kinds.account,
            name: kinds.displayName,
            repos_count: kinds.count('The number of libraries.'),
            file_size: kinds.count('The size of their files in bytes, as quotas count it.'),
            ...usage,
            deleted: kinds.count('Bytes of deleted libraries.'),
            uncounted_repos: kinds.count('The number of libraries that were not counted yet.'),
          }),
        ),
      }),
      'A page of accounts, largest first.',
    ),
  }),
]
