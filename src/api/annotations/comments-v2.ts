import {
  errorMessage,
  flag,
  jsonResponse,
  map,
  optional,
  optionalText,
  rawResponse,
  text,
} from '../../http/index.ts'
import { baseName } from '../../objects/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { route } from '../services.ts'
import { annotationIdParam } from './annotation-id.ts'
import { commentsToWire } from './comment-wire.ts'

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
    params,
    query: { p: requiredPath('Wrong path.'), resolved: optional(flag()) },
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
    params,
    query: { p: requiredPath('Wrong path.') },
    body: { comment: commentText, detail: detailText },
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
    params,
    query: { p: requiredPath('Wrong path.') },
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
    params: paramsOfOne,
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
    params: paramsOfOne,
    body: { resolved: optional(flag()), detail: optionalText(), comment: optionalText() },
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
    params: paramsOfOne,
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
