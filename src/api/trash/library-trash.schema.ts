import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const deleted = {
  parent_dir: kinds.folderPath,
  obj_name: kinds.name,
  deleted_time: kinds.isoTime,
  commit_id: kinds.objectId,
  is_dir: kinds.flag(),
  size: kinds.size,
  obj_id: kinds.objectIdOrEmpty,
}

const trashItem = kinds.record('TrashItem', { ...deleted, scan_stat: Type.Null() })

const numberedPage = kinds.record('NumberedTrashPage', {
  items: Type.Array(Type.Object(deleted)),
  total_count: kinds.count('The number of entries on all pages.'),
  can_search: kinds.flag('Whether the library keeps history.'),
})

const deletedLibrary = kinds.record('DeletedLibrary', {
  repo_id: kinds.libraryId,
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
  repo_name: kinds.text('The name of the library.'),
  org_id: Type.Literal(-1, { description: 'An unused constant.' }),
  head_commit_id: kinds.objectId,
  encrypted: kinds.flag(),
  del_time: kinds.isoTime,
  size: kinds.size,
})

const trashPage = kinds.record('TrashPage', {
  data: Type.Array(trashItem),
  more: kinds.flag('Whether there is another page.'),
  scan_stat: kinds.orNull(kinds.text('Where the next page begins.')),
})

const restored = Type.Array(Type.Object({ path: kinds.path, is_dir: kinds.flag() }))

const parameters = {
  scan_stat: { description: 'The value of the previous response, for the next page.' },
  show_days: { description: 'Only what was deleted in these days. 0 is all.' },
}

/** The trash of a library. */
export const libraryTrashSchemas = [
  operation(
    'GET /api/v2.1/repos/:repo_id/trash/',
    { 200: json(trashPage, 'A page of deleted entries, latest first.') },
    { parameters },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/trash/',
    { 200: json(trashPage, 'A page of deleted entries, latest first.') },
    { parameters },
  ),
  operation(
    'DELETE /api/v2.1/repos/:repo_id/trash/',
    { 200: json(kinds.successFlag, 'The trash was emptied.') },
    { parameters: { keep_days: { description: 'Keeps what was deleted in these days.' } } },
  ),
  operation('GET /api/v2.1/repos/:repo_id/trash2/', {
    200: json(numberedPage, 'A page of deleted entries.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/trash2/search/', {
    200: json(numberedPage, 'A page of deleted entries that match.'),
  }),
  operation('GET /api/v2.1/trash/', {
    200: json(
      kinds.record('MergedTrash', {
        items: Type.Array(
          Type.Object({
            ...deleted,
            repo_id: kinds.libraryId,
            repo_name: kinds.text('The name of the library.'),
            can_restore: kinds.flag('Whether the caller may restore it.'),
          }),
        ),
        next_cursor: kinds.orNull(kinds.text('Where the next page begins.')),
      }),
      'A page of deleted entries of all libraries, latest first.',
    ),
  }),
  operation(
    'POST /api/v2.1/repos/:repo_id/trash/revert-dirents/',
    {
      200: json(
        kinds.record('Restored', {
          success: restored,
          failed: Type.Array(Type.Object({ path: kinds.path, error_msg: kinds.text('Why it failed.') })),
        }),
        'The result for each path.',
      ),
    },
    { errors: [443] },
  ),
  operation(
    'POST /api/v2.1/repos/:repo_id/trash2/revert/',
    {
      200: json(
        kinds.record('RestoredFromCommits', {
          success: restored,
          failed: Type.Array(
            Type.Object({
              commit_id: kinds.objectId,
              path: kinds.path,
              error_msg: kinds.text('Why it failed.'),
            }),
          ),
        }),
        'The result for each path.',
      ),
    },
    {
      errors: [443],
      body: kinds.mapOf(
        Type.Array(kinds.path),
        'The paths to restore, by the id of the commit that still has them.',
      ),
    },
  ),
  operation('GET /api/v2.1/deleted-repos/', { 200: json(Type.Array(deletedLibrary), 'The libraries.') }),
  operation(
    'POST /api/v2.1/deleted-repos/',
    { 200: json(kinds.successFlag, 'The library was restored.') },
    { errors: [443] },
  ),
  operation('DELETE /api/v2.1/deleted-repos/', {
    200: json(kinds.successFlag, 'The libraries were purged.'),
  }),
  operation('DELETE /api/v2.1/deleted-repos/:repo_id/', {
    200: json(kinds.successFlag, 'The library was purged.'),
  }),
]
