import { type Missing, missing } from './statement.ts'

const categories = ['TEXT', 'DOCUMENT', 'IMAGE', 'VIDEO', 'AUDIO', 'PDF', 'MARKDOWN']

const records: Record<string, string> = {
  repo_id: 'a string',
  repo_name: 'a string',
  name: 'a string',
  fullpath: 'a path',
  is_dir: 'a boolean',
  size: 'an integer, bytes',
  last_modified: 'an integer, Unix seconds',
  content_highlight: 'a string, matches in `<b>` tags',
  oid: 'a string of 40 hexadecimal digits',
  repo_encrypted: 'a boolean',
  permission: 'a string',
  repo_type: '`mine` or `shared`',
  repo_owner_name: 'a string',
  repo_owner_email: 'an account shaped like an e-mail address',
  repo_owner_contact_email: 'a string',
}

/** Section 2.15. */
export const searchRecordStatements: Missing[] = missing('2.15', 'search', {
  ...Object.fromEntries(
    Object.entries(records).map(([field, words]) => [field, `\`${field}\` of a search result is ${words}`]),
  ),
  ...Object.fromEntries(
    categories.map((category) => [
      category,
      `The category ${category} stands for the extensions listed with it`,
    ]),
  ),
})

/** Section 4.6. */
export const searchStatements: Missing[] = missing('4.6', 'search', {
  search: '`GET /api2/search/` answers `{has_more, total, results}`',
  q: '`q` is the text to search for',
  search_repo: '`search_repo` is `all` or the id of a library',
  search_path: '`search_path` is a folder of that library to stay in',
  search_ftypes: '`search_ftypes=custom` goes with `ftype` and `input_fexts`',
  ftype: '`ftype` is a category of files',
  input_fexts: '`input_fexts` is a list of extensions with commas between them',
  paging: '`per_page` and `page` cut the results into pages',
  with_permission: '`with_permission` adds the permission to results',
  time: '`time_from` and `time_to` bound the time of the last change, in Unix seconds',
  size: '`size_from` and `size_to` bound the size, in bytes',
})
