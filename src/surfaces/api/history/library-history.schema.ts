import { kinds } from '../../../base/schemas/index.ts'

const viaLink = kinds.optional(
  kinds.literal(true, {
    description: 'A visitor of a link made the change. The creator is that of the link.',
  }),
)

const device = kinds.orNull(kinds.text('The device of a sync client.'))

export const historyEntry = kinds.record('HistoryEntry', () => ({
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
  tags: kinds.array(kinds.text(), { description: 'Always empty.', maxItems: 0 }),
}))

export const commitDetail = kinds.record('CommitDetail', () => ({
  commit_info: kinds.object({
    creator_email: kinds.account,
    creator_name: kinds.displayName,
    creator_contact_email: kinds.contactEmail,
    via_link: viaLink,
    time: kinds.isoTime,
    description: kinds.text('What the commit changed.'),
    device_name: device,
  }),
  commit_diffs: kinds.array(
    kinds.object({
      op_type: kinds.oneOfWords(['new', 'modified', 'removed', 'newdir', 'deldir', 'renamed']),
      path: kinds.path,
      new_path: kinds.text('Empty unless it was renamed.'),
    }),
  ),
}))

export const paths = (description: string) => kinds.optional(kinds.array(kinds.path, { description }))
