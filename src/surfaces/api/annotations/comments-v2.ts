import { baseName, parentOf } from '../../../base/paths/index.ts'
import { empty, json, kinds } from '../../../base/schemas/index.ts'
import type { Comment } from '../../../derived/annotations/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import { asSeen } from '../../../libraries/registry/index.ts'
import type { Directory } from '../../../people/accounts/index.ts'
import { flag, map, optional, optionalText, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse, rawResponse } from '../../../platform/responses/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { isoTime } from '../common/wire-formats.ts'
import { annotationIdParam } from './annotation-id.ts'
import { comment as commentSchema, counts as countsSchema } from './annotations.schema.ts'
import { route } from './services.ts'

// In UTF-16 code units.
const MAX_LENGTH = 10_000

const all = '/api2/repos/:repo_id/file/comments/'
const one = `${all}:comment_id/`
const params = { repo_id: libraryIdParam }
const paramsOfOne = { repo_id: libraryIdParam, comment_id: annotationIdParam }

const commentText = map(text(), shorter, 'Comment is too long.')
const detailText = map(text(), shorter, 'detail invalid.')

export const commentRoutes = [
  route({
    method: 'GET',
    path: all,
    auth: 'user',
    summary: 'Lists the comments on a file, oldest first; with `resolved` only those that are or are not.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { p: requiredPath('Wrong path.'), resolved: optional(flag()) },
    responses: () => ({
      200: json(
        kinds.record('Comments', { comments: kinds.array(commentSchema) }),
        'The comments, oldest first.',
      ),
    }),
    async handle({ user, params, query, request }, { access, comments, directory }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, query.p)
      const found = await comments.list(library, path)
      const shown = found.filter(({ resolved }) => (query.resolved ?? resolved) === resolved)
      return { comments: await commentsToWire(library, shown, directory, request.baseUrl) }
    },
  }),
  route({
    method: 'POST',
    path: all,
    auth: 'user',
    summary: 'Comments on a file. Accounts mentioned as `@e-mail` are notified, if they may read it.',
    compatibility: 'supported',
    params,
    query: { p: requiredPath('Wrong path.') },
    body: { comment: commentText, detail: detailText },
    responses: () => ({ 201: json(commentSchema, 'The new comment.') }),
    async handle({ user, params, query, body, request }, { access, comments, directory }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, query.p)
      refuseBlank(body.comment)
      const file = { user, libraryId: params.repo_id, path }
      const comment = await comments.add(file, { text: body.comment, detail: body.detail })
      const [added] = await commentsToWire(library, [comment], directory, request.baseUrl)
      return jsonResponse(201, added)
    },
  }),
  route({
    method: 'GET',
    path: `${all}counts/`,
    auth: 'user',
    summary: 'Counts the comments on a file, or on each commented file of a folder.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { p: '/in.txt', path: '/in.txt' } },
    params,
    query: { p: requiredPath('Wrong path.') },
    responses: () => ({
      200: [
        json(countsSchema, 'By the name of the file.'),
        json(kinds.array(countsSchema), 'Of a folder, an object for each file with comments.'),
      ],
    }),
    async handle({ user, params, query }, { access, comments }) {
      const library = await access.open(user, params.repo_id)
      const { path } = query.p
      if (path !== undefined && (await library.tree.findDir(path)) !== undefined) {
        const counts = await comments.countIn(library, path)
        return Array.from(counts, ([commented, n]) => ({ [baseName(commented)]: n }))
      }
      const file = await fileAt(library, query.p)
      return { [file.entry.name]: await comments.count(library, file.path) }
    },
  }),
  route({
    method: 'GET',
    path: one,
    auth: 'user',
    summary: 'Returns one comment.',
    compatibility: 'supported',
    params: paramsOfOne,
    responses: () => ({ 200: json(commentSchema, 'The comment.') }),
    async handle({ user, params, request }, { access, comments, directory }) {
      const library = await access.open(user, params.repo_id)
      const comment = await comments.get(library, params.comment_id)
      return (await commentsToWire(library, [comment], directory, request.baseUrl))[0]
    },
  }),
  route({
    method: 'PUT',
    path: one,
    auth: 'user',
    summary:
      'Changes a comment of the caller, or resolves one; who may write to the library may resolve all.',
    compatibility: 'supported',
    params: paramsOfOne,
    body: { resolved: optional(flag()), detail: optionalText(), comment: optionalText() },
    responses: () => ({
      200: json(commentSchema, 'The changed comment.'),
    }),
    async handle({ user, params, body, request }, { access, comments, directory }) {
      const library = await access.open(user, params.repo_id)
      const { comment: sent, detail, resolved } = body
      if (sent !== undefined) refuseBlank(sent)
      if (shorter(sent ?? '') === undefined) throw errorMessage(400, 'Comment is too long.')
      if (shorter(detail ?? '') === undefined) throw errorMessage(400, 'detail invalid.')
      const changed = await comments.change(library, params.comment_id, { text: sent, detail, resolved })
      return (await commentsToWire(library, [changed], directory, request.baseUrl))[0]
    },
  }),
  route({
    method: 'DELETE',
    path: one,
    auth: 'user',
    summary: 'Deletes a comment; for its author and the owner of the library.',
    compatibility: 'supported',
    params: paramsOfOne,
    responses: () => ({
      204: empty('The comment was deleted.'),
    }),
    async handle({ user, params }, { access, comments }) {
      const library = await access.open(user, params.repo_id)
      await comments.remove(library, params.comment_id)
      return rawResponse({ status: 204, body: '' })
    },
  }),
]

function shorter(sent: string): string | undefined {
  return sent.length <= MAX_LENGTH ? sent : undefined
}

function refuseBlank(comment: string): void {
  if (comment.trim() === '') throw errorMessage(400, 'Comment can not be empty.')
}

/** Comments as the library shows them. */
async function commentsToWire(
  library: Library,
  comments: readonly Comment[],
  directory: Directory,
  baseUrl: string,
) {
  const people = await directory.people(comments.map(({ author }) => author))
  return comments.flatMap((comment) => {
    const path = asSeen(library.info, comment.path)
    const author = people.get(comment.author)
    if (path === undefined || author === undefined) return []
    return {
      id: comment.id,
      repo_id: library.info.id,
      parent_path: parentOf(path),
      item_name: baseName(path),
      comment: comment.text,
      created_at: isoTime(comment.createdAt),
      updated_at: isoTime(comment.updatedAt),
      resolved: comment.resolved,
      detail: comment.detail,
      // Answers to a comment are comments of their own here.
      replies: [],
      user_email: author.email,
      user_name: author.name,
      user_contact_email: author.contactEmail,
      avatar_url: avatarUrl(baseUrl, author),
    }
  })
}
