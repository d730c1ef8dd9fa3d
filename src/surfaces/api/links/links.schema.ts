import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'

const uploadLink = {
  create_by: kinds.account,
  creator_name: kinds.displayName,
  create_time: kinds.string({
    description: 'ISO 8601 without a colon in the offset.',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+-]\\d{4}$',
    examples: ['2026-11-17T12:00:00+0000'],
  }),
  token: kinds.text('The token of the link.'),
  path: kinds.path,
  name: kinds.name,
  view_count: kinds.count('How often it was opened.'),
}

export const olderUploadLink = kinds.record('OlderUploadLink', () => uploadLink)

export type OlderUploadLink = ValueOf<typeof olderUploadLink>

export const olderDownloadLink = kinds.record('OlderDownloadLink', () => ({
  ...uploadLink,
  share_type: kinds.oneOfWords(['d', 'f'], 'A folder or a file.'),
  size: kinds.text('In bytes. Empty for a folder.'),
}))

export type OlderDownloadLink = ValueOf<typeof olderDownloadLink>

export const deleted = { 200: json(kinds.successFlag, 'The link was deleted.') }

export const olderLink = kinds.record('OlderShareLink', () => ({
  username: kinds.account,
  repo_id: kinds.libraryId,
  ctime: kinds.isoTime,
  s_type: kinds.oneOfWords(['d', 'f'], 'A folder or a file.'),
  token: kinds.text('The token of the link.'),
  view_cnt: kinds.count('How often it was opened.'),
  path: kinds.text('The path of the item. That of a folder ends with a slash.'),
}))

export type OlderShareLink = ValueOf<typeof olderLink>

export const mailed = {
  200: json(
    kinds.record('MailedLink', () => ({
      success: kinds.array(kinds.text('An address.'), { description: 'The addresses that get a mail.' }),
      failed: kinds.array(
        kinds.object({ email: kinds.text('An address.'), error_msg: kinds.text('Why it gets none.') }),
      ),
    })),
    'The result for each address.',
  ),
}

export const mailParameters = {
  email: { description: 'The addresses, separated by commas.' },
  token: { description: 'The token of the link.' },
  extra_msg: { description: 'A message to the recipients.' },
}
