import { kinds } from '../../../base/schemas/index.ts'

export const deleted = {
  parent_dir: kinds.folderPath,
  obj_name: kinds.name,
  deleted_time: kinds.isoTime,
  commit_id: kinds.objectId,
  is_dir: kinds.flag(),
  size: kinds.size,
  obj_id: kinds.objectIdOrEmpty,
}

const trashItem = kinds.record('TrashItem', () => ({ ...deleted, scan_stat: kinds.nothing() }))

export const numberedPage = kinds.record('NumberedTrashPage', () => ({
  items: kinds.array(kinds.object(deleted)),
  total_count: kinds.count('The number of entries on all pages.'),
  can_search: kinds.flag('Whether the library keeps history.'),
}))

export const deletedLibrary = kinds.record('DeletedLibrary', () => ({
  repo_id: kinds.libraryId,
  owner_email: kinds.account,
  owner_name: kinds.displayName,
  owner_contact_email: kinds.contactEmail,
  repo_name: kinds.text('The name of the library.'),
  org_id: kinds.literal(-1, { description: 'An unused constant.' }),
  head_commit_id: kinds.objectId,
  encrypted: kinds.flag(),
  del_time: kinds.isoTime,
  size: kinds.size,
}))

export const trashPage = kinds.record('TrashPage', () => ({
  data: kinds.array(trashItem),
  more: kinds.flag('Whether there is another page.'),
  scan_stat: kinds.orNull(kinds.text('Where the next page begins.')),
}))

export const restored = kinds.array(kinds.object({ path: kinds.path, is_dir: kinds.flag() }))

export const parameters = {
  scan_stat: { description: 'The value of the previous response, for the next page.' },
  show_days: { description: 'Only what was deleted in these days. 0 is all.' },
}
