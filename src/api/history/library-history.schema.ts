import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const viaLink = Type.Optional(
  Type.Literal(true, {
    description: 'A visitor of a link made the change. The creator is that of the link.',
  }),
)

const device = kinds.orNull(kinds.text('The device of a sync client.'))

const historyEntry = kinds.record('HistoryEntry', {
  commit_id: kinds.objectId,
  time: kinds.isoTime,
  description: kinds.text('What the commit changed.'),
  creator: kinds.account,
  email: kinds.account,
  name: kinds.displayName,
  contact_email: kinds.contactEmail,
  via_link: viaLink,
  client_version: kinds.orNull(kinds.text('The version of a sync client.')),
  device_name: device,
  second_parent_id: kinds.orNull(kinds.objectId),
  tags: Type.Array(kinds.text(), { description: 'Always empty.', maxItems: 0 }),
})

const commitDetail = kinds.record('CommitDetail', {
  commit_info: Type.Object({
    creator_email: kinds.account,
    creator_name: kinds.displayName,
    creator_contact_email: kinds.contactEmail,
    via_link: viaLink,
    time: kinds.isoTime,
    description: kinds.text('What the commit changed.'),
    device_name: device,
  }),
  commit_diffs: Type.Array(
    Type.Object({
      op_type: kinds.oneOfWords(['new', 'modified', 'removed', 'newdir', 'deldir', 'renamed']),
      path: kinds.path,
      new_path: kinds.text('Empty unless it was renamed.'),
    }),
  ),
})

const paths = (description: string) => Type.Optional(Type.Array(kinds.path, { description }))

/** The history of a library. */
export const libraryHistorySchemas = [
  operation(
    'GET /api/v2.1/repos/:repo_id/history/',
    {
      200: json(
        kinds.record('History', {
          data: Type.Array(historyEntry),
          more: kinds.flag('Whether there is another page.'),
        }),
        'A page of commits, newest first.',
      ),
    },
    {
      parameters: {
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 100, at most 1000.' },
      },
    },
  ),
  operation('GET /api/v2.1/repos/:repo_id/commits/:commit_id/', {
    200: json(commitDetail, 'The commit and its changes.'),
  }),
  operation(
    'GET /api2/repo_history_changes/:repo_id/',
    {
      200: json(
        kinds.record('ChangedPaths', {
          added_files: paths('The files that were added.'),
          deleted_files: paths('The files that were deleted.'),
          modified_files: paths('The files that were changed.'),
          renamed_files: paths('The old and the new path of each file and folder that was renamed or moved.'),
          added_dirs: paths('The folders that were added.'),
          deleted_dirs: paths('The folders that were deleted.'),
        }),
        'The changed paths. Kinds of changes that did not occur are left out.',
      ),
      400: json(
        kinds.record('HistoryRefusal', { err: kinds.text('Why it was refused.') }),
        'There is no such library or commit.',
      ),
    },
    { parameters: { commit_id: { required: true, description: 'The id of the commit.' } } },
  ),
]
