import { Type } from 'typebox'
import { empty, json, kinds, operation } from '../../openapi/index.ts'
import { person } from '../accounts/accounts.schema.ts'

const tag = {
  repo_tag_id: kinds.integer('The id of the tag.'),
  repo_id: kinds.libraryId,
  tag_name: kinds.text('The name of the tag.'),
  tag_color: kinds.text('The color of the tag.'),
}

const oneTag = kinds.record('TagOfLibrary', { repo_tag: Type.Object(tag) })

const fileTag = kinds.record('FileTag', {
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  repo_tag_id: kinds.integer('The id of the tag.'),
  tag_name: kinds.text('The name of the tag.'),
  tag_color: kinds.text('The color of the tag.'),
})

const taggedFile = kinds.record('TaggedFile', {
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  filename: kinds.name,
  parent_path: kinds.path,
  size: kinds.size,
  mtime: kinds.unixTime,
  last_modified: kinds.isoTime,
  modifier_email: kinds.account,
  modifier_contact_email: kinds.contactEmail,
  modifier_name: kinds.displayName,
})

const deletedFile = kinds.record('DeletedTaggedFile', {
  file_deleted: Type.Literal(true),
  file_tag_id: kinds.integer('The id of the tag at this file.'),
  filename: kinds.name,
})

const comment = kinds.record('Comment', {
  id: kinds.integer(),
  repo_id: kinds.libraryId,
  parent_path: kinds.path,
  item_name: kinds.name,
  comment: kinds.text('The text of the comment.'),
  created_at: kinds.isoTime,
  updated_at: kinds.isoTime,
  resolved: kinds.flag(),
  detail: kinds.text('Data of the client, or empty.'),
  replies: Type.Array(Type.Unknown(), { description: 'Always empty.', maxItems: 0 }),
  user_email: kinds.account,
  user_name: kinds.displayName,
  user_contact_email: kinds.contactEmail,
  avatar_url: kinds.url,
})

const counts = kinds.mapOf(kinds.count('The number of comments.'), 'By the name of the file.')
// Existing clients expect the text.
const removed = (description: string) => ({
  200: json(Type.Object({ success: Type.Literal('true') }), description),
})

/** Comments and tags. */
export const annotationSchemas = [
  operation('GET /api2/repos/:repo_id/file/comments/', {
    200: json(kinds.record('Comments', { comments: Type.Array(comment) }), 'The comments, oldest first.'),
  }),
  operation('POST /api2/repos/:repo_id/file/comments/', { 201: json(comment, 'The new comment.') }),
  operation('GET /api2/repos/:repo_id/file/comments/:comment_id/', { 200: json(comment, 'The comment.') }),
  operation('PUT /api2/repos/:repo_id/file/comments/:comment_id/', {
    200: json(comment, 'The changed comment.'),
  }),
  operation('DELETE /api2/repos/:repo_id/file/comments/:comment_id/', {
    204: empty('The comment was deleted.'),
  }),
  operation('GET /api2/repos/:repo_id/file/comments/counts/', {
    200: [
      json(counts, 'By the name of the file.'),
      json(Type.Array(counts), 'Of a folder, an object for each file with comments.'),
    ],
  }),
  operation('GET /api/v2.1/repos/:repo_id/file/participants/', {
    200: json(kinds.record('Participants', { participant_list: Type.Array(person) }), 'The users.'),
  }),
  operation('POST /api/v2.1/repos/:repo_id/file/participants/', {
    200: json(
      kinds.record('AddedParticipants', {
        success: Type.Array(person),
        failed: Type.Array(
          Type.Object({
            email: kinds.account,
            error_code: kinds.integer(),
            error_msg: kinds.text('Why it failed.'),
          }),
        ),
      }),
      'The result for each user.',
    ),
  }),
  operation('DELETE /api/v2.1/repos/:repo_id/file/participant/', {
    200: json(kinds.successFlag, 'The user is not notified any more.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/repo-tags/', {
    200: json(
      kinds.record('TagsOfLibrary', {
        repo_tags: Type.Array(
          Type.Object({ ...tag, files_count: kinds.count('The number of files with it.') }),
        ),
      }),
      'The tags.',
    ),
  }),
  operation('POST /api/v2.1/repos/:repo_id/repo-tags/', { 201: json(oneTag, 'The new tag.') }),
  operation('PUT /api/v2.1/repos/:repo_id/repo-tags/:repo_tag_id/', {
    200: json(oneTag, 'The changed tag.'),
  }),
  operation('DELETE /api/v2.1/repos/:repo_id/repo-tags/:repo_tag_id/', removed('The tag was deleted.')),
  operation('POST /api/v2.1/repos/:repo_id/repo-tags/:repo_tag_id/merge/', {
    200: json(oneTag, 'The remaining tag.'),
  }),
  operation('GET /api/v2.1/repos/:repo_id/tagged-files/:repo_tag_id/', {
    200: json(
      kinds.record('TaggedFiles', { tagged_files: Type.Array(Type.Union([taggedFile, deletedFile])) }),
      'The files with the tag.',
    ),
  }),
  operation('GET /api/v2.1/repos/:repo_id/file-tags/', {
    200: json(kinds.record('FileTags', { file_tags: Type.Array(fileTag) }), 'The tags of the file.'),
  }),
  operation('POST /api/v2.1/repos/:repo_id/file-tags/', {
    201: json(kinds.record('AddedFileTag', { file_tag: fileTag }), 'The tag at the file.'),
  }),
  operation('DELETE /api/v2.1/repos/:repo_id/file-tags/:file_tag_id/', removed('The tag was removed.')),
]
