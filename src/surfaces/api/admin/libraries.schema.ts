import { json, kinds, type ValueOf } from '../../../base/schemas/index.ts'
import { linkTarget } from '../links/own-links.schema.ts'

export const deletedLibrary = kinds.record('AdminDeletedLibrary', () => ({
  id: kinds.libraryId,
  name: kinds.text('The name of the library.'),
  owner: kinds.account,
  owner_name: kinds.displayName,
  delete_time: kinds.isoTime,
}))

export type AdminDeletedLibrary = ValueOf<typeof deletedLibrary>

export const link = kinds.record('AdminLink', () => ({
  token: kinds.text('The token of the link.'),
  ...linkTarget,
  is_dir: kinds.flag(),
  creator_email: kinds.account,
  creator_name: kinds.displayName,
  ctime: kinds.isoTime,
  view_cnt: kinds.count('How often it was opened.'),
  expire_date: kinds.text('When it ends, in ISO 8601, or empty.'),
  is_expired: kinds.flag(),
}))

export type AdminLink = ValueOf<typeof link>

export const links = kinds.array(link)
export const count = kinds.count('The number of links on all pages.')
export const ofAccount = { owner: { description: 'Only libraries of this account.' } }
export const done = (description: string) => ({ 200: json(kinds.successFlag, description) })
