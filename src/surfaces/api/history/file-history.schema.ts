import { json, kinds } from '../../../base/schemas/index.ts'

const viaLink = kinds.optional(
  kinds.literal(true, {
    description: 'A visitor of a link made the change. The creator is that of the link.',
  }),
)

export const commit = {
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
  version: kinds.literal(1),
  new_merge: kinds.flag(),
  conflict: kinds.flag(),
  device_name: kinds.orNull(kinds.text('The device of a sync client.')),
  client_version: kinds.orNull(kinds.text('The version of a sync client.')),
}

export const revision = {
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

export const restored = { 200: json(kinds.successFlag, 'The state of the commit was restored.') }
