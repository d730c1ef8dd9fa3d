import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

const searchResult = kinds.record('SearchResult', {
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
  permission: Type.Optional(kinds.permission),
  comment: Type.Optional(
    Type.Object(
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
})

/** Entries of one library by part of their name. */
export const foundNames = json(
  kinds.record('FoundNames', {
    data: Type.Array(
      Type.Object({
        path: kinds.path,
        size: kinds.size,
        mtime: kinds.isoTime,
        type: kinds.oneOfWords(['folder', 'file']),
      }),
    ),
  }),
  'The files and folders whose names match.',
)

/** The search. */
export const searchSchemas = [
  operation(
    'GET /api2/search/',
    {
      200: json(
        kinds.record('SearchPage', {
          total: kinds.count('The number of results on all pages.'),
          total_is_minimum: Type.Optional(
            kinds.flag(
              'Set if results are not counted, because there are more than 1,000: `total` is at least 1,001.',
            ),
          ),
          has_more: kinds.flag('Whether there is another page.'),
          results: Type.Array(searchResult),
        }),
        'A page of results, best first.',
      ),
    },
    {
      parameters: {
        q: { required: true, description: 'The words to search for.' },
        search_path: { description: 'Only below this folder, if `search_repo` is the id of a library.' },
        search_ftypes: { description: '`custom` applies `ftype` and `input_fexts`.' },
        ftype: { description: 'Kinds of files, such as `Document` or `Image`.' },
        input_fexts: { description: 'Extensions, separated by commas.' },
        time_from: { description: 'Changed since, in Unix seconds.' },
        time_to: { description: 'Changed until, in Unix seconds.' },
        size_from: { description: 'At least this size in bytes.' },
        size_to: { description: 'At most this size in bytes.' },
        page: { description: 'Counted from 1.' },
        per_page: { description: 'Default: 10, at most 100.' },
        with_permission: { description: 'Adds `permission` to the results.' },
        shared_from: { description: 'Only what this account shared, if `search_repo` is `shared`.' },
        not_shared_from: { description: 'Not what this account shared, if `search_repo` is `shared`.' },
      },
    },
  ),
  operation('GET /api/v2.1/search-file/', { 200: foundNames }),
]
