import { json, kinds } from '../../../base/schemas/index.ts'

export const tag = {
  repo_tag_id: kinds.integer('The id of the tag.'),
  repo_id: kinds.libraryId,
  tag_name: kinds.text('The name of the tag.'),
  tag_color: kinds.text('The color of the tag.'),
}

export const oneTag = kinds.record('TagOfLibrary', () => ({ repo_tag: kinds.object(tag) }))

export const fileTag = kinds.record('FileTag', () => ({
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  repo_tag_id: kinds.integer('The id of the tag.'),
  tag_name: kinds.text('The name of the tag.'),
  tag_color: kinds.text('The color of the tag.'),
}))

export const taggedFile = kinds.record('TaggedFile', () => ({
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  filename: kinds.name,
  parent_path: kinds.path,
  size: kinds.size,
  mtime: kinds.unixTime,
  last_modified: kinds.isoTime,
  modifier_email: kinds.account,
  modifier_contact_email: kinds.contactEmail,
  modifier_name: kinds.displayName,
}))

export const deletedFile = kinds.record('DeletedTaggedFile', () => ({
  file_deleted: kinds.literal(true),
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  filename: kinds.name,
}))

export const comment = kinds.record('Comment', () => ({
  id: kinds.integer(),
  repo_id: kinds.libraryId,
  parent_path: kinds.path,
  item_name: kinds.name,
  comment: kinds.text('The text of the comment.'),
  created_at: kinds.isoTime,
  updated_at: kinds.isoTime,
  resolved: kinds.flag(),
  detail: kinds.text('Data of the client, or empty.'),
  replies: kinds.array(kinds.unknown(), { description: 'Always empty.', maxItems: 0 }),
  user_email: kinds.account,
  user_name: kinds.displayName,
  user_contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
}))

export const counts = kinds.mapOf(kinds.count('The number of comments.'), 'By the name of the file.')
// Existing clients expect the text.
export const removed = (description: string) => ({
  200: json(kinds.object({ success: kinds.literal('true') }), description),
})
