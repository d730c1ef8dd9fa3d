import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const viaLink = Type.Optional(
  Type.Literal(true, {
    description: 'A visitor of a link made the change. The creator is that of the link.',
  }),
)

const commit = {
  id: kinds.objectId,
  creator_name: kinds.text('The account that made the commit.'),
  creator: kinds.objectId,
  via_link: viaLink,
  desc: kinds.text('What the commit changed.'),
  ctime: kinds.unixTime,
  repo_id: kinds.libraryId,
  root_id: kinds.objectId,
  parent_id: kinds.orNull(kinds.objectId),
  second_parent_id: kinds.orNull(kinds.objectId),
  version: Type.Literal(1),
  new_merge: kinds.flag(),
  conflict: kinds.flag(),
  device_name: kinds.orNull(kinds.text('The device of a sync client.')),
  client_version: kinds.orNull(kinds.text('The version of a sync client.')),
}

const revision = {
  commit_id: kinds.objectId,
  ctime: kinds.isoTime,
  size: kinds.size,
  rev_file_id: kinds.objectId,
  path: kinds.path,
  creator_email: kinds.account,
  creator_name: kinds.displayName,
  creator_contact_email: kinds.contactEmail,
  creator_avatar_url: kinds.url,
  via_link: viaLink,
}

const restored = { 200: json(kinds.successFlag, 'The state of the commit was restored.') }

/** Revisions of files, and restoring them. */
export const fileHistorySchemas = [
  operation('GET /api/v2.1/repos/:repo_id/file/history/', {
    200: json(
      kinds.record('FileHistory', {
        data: Type.Array(
          Type.Object({
            ...revision,
            description: kinds.text('What the commit changed.'),
            rev_renamed_old_path: kinds.orNull(kinds.path),
          }),
        ),
        next_start_commit: Type.Union([kinds.objectId, Type.Literal(false)], {
          description: 'Where the next page begins.',
        }),
      }),
      'The revisions, newest first.',
    ),
  }),
  operation('GET /api/v2.1/repos/:repo_id/file/new_history/', {
    200: json(
      kinds.record('FileHistoryPage', {
        data: Type.Array(
          Type.Object({
            ...revision,
            op_type: kinds.text('The kind of change.'),
            old_path: kinds.text('The path before, or empty.'),
          }),
        ),
        page: kinds.integer(),
        total_count: kinds.count('The number of revisions.'),
      }),
      'A page of revisions, newest first.',
    ),
  }),
  operation('GET /api2/repos/:repo_id/file/history/', {
    200: json(
      kinds.record('OlderFileHistory', {
        commits: Type.Array(
          Type.Object({
            ...commit,
            rev_file_id: kinds.objectId,
            rev_file_size: kinds.size,
            rev_renamed_old_path: kinds.orNull(kinds.path),
            user_info: Type.Object({
              email: kinds.account,
              name: kinds.displayName,
              contact_email: kinds.contactEmail,
            }),
          }),
        ),
      }),
      'The revisions, newest first.',
    ),
  }),
  operation('GET /api2/repos/:repo_id/history/', {
    200: json(
      kinds.record('OlderHistory', {
        commits: Type.Array(
          Type.Object({
            ...commit,
            rev_file_id: Type.Null(),
            rev_file_size: Type.Literal(0),
            rev_renamed_old_path: Type.Null(),
          }),
        ),
        page_next: kinds.flag('Whether there is another page.'),
      }),
      'A page of commits, newest first.',
    ),
  }),
  operation('GET /api2/repos/:repo_id/file/revision/', {
    200: json(kinds.url, 'A URL to download the file.', { oid: 'The id of the file.' }),
  }),
  operation('GET /api/v2.1/repos/:repo_id/commits/:commit_id/dir/', {
    200: json(
      kinds.record('FolderOfCommit', {
        dirent_list: Type.Array(
          Type.Object({
            type: kinds.oneOfWords(['dir', 'file']),
            parent_dir: kinds.folderPath,
            obj_id: kinds.objectId,
            name: kinds.name,
            size: Type.Optional(kinds.size),
          }),
        ),
      }),
      'The entries.',
    ),
  }),
  operation('POST /api/v2.1/repos/:repo_id/commits/:commit_id/revert/', restored, { errors: [443] }),
  operation('PUT /api2/repos/:repo_id/dir/revert/', restored, { errors: [443] }),
  operation('PUT /api2/repos/:repo_id/file/revert/', restored, { errors: [443] }),
]
