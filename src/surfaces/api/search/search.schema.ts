import { json, kinds } from '../../../base/schemas/index.ts'

export const searchResult = kinds.record('SearchResult', () => ({
  repo_id: kinds.libraryId,
  repo_name: kinds.text('The name of the library.'),
  name: kinds.name,
  fullpath: kinds.path,
  oid: kinds.objectIdOrEmpty,
  is_dir: kinds.flag(),
  size: kinds.size,
  last_modified: kinds.unixTime,
  content_highlight: kinds.text('An excerpt with matches in `<b>` elements. May be empty.'),
  repo_encrypted: kinds.flag(),
  repo_type: kinds.oneOfWords(
    ['mine', 'shared', 'group', 'public', ''],
    'How the caller can open the library. Empty if one library was searched.',
  ),
  repo_owner_email: kinds.text('The account of the owner. Empty if there is none any more.'),
  repo_owner_name: kinds.displayName,
  repo_owner_contact_email: kinds.contactEmail,
  permission: kinds.optional(kinds.permission),
  comment: kinds.optional(
    kinds.object(
      {
        id: kinds.integer(),
        user_email: kinds.account,
        user_name: kinds.displayName,
        created_at: kinds.isoTime,
      },
      { description: 'The comment that matches.' },
    ),
  ),
  thumbnail_url: kinds.text('A URL of a thumbnail, or empty.'),
}))

/** Entries of one library by part of their name. */
export const foundNames = json(
  kinds.record('FoundNames', () => ({
    data: kinds.array(
      kinds.object({
        path: kinds.path,
        size: kinds.size,
        mtime: kinds.isoTime,
        type: kinds.oneOfWords(['folder', 'file']),
      }),
    ),
  })),
  'The files and folders whose names match.',
)
