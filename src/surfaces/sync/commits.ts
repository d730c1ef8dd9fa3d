import {
  type CommitLibrary,
  encodeCommit,
  InvalidObject,
  parseCommit,
  parseCommitId,
} from '../../base/objects/index.ts'
import type { LibraryInfo } from '../../libraries/registry/index.ts'
import { readBody } from '../../platform/http/index.ts'
import { map, rawText } from '../../platform/input/index.ts'
import { jsonTextResponse, TextRefusal } from '../../platform/responses/index.ts'
import { badRequest, done, libraryParam } from './readers.ts'
import { route } from './services.ts'

const LARGEST_COMMIT = 2 ** 20

const params = { repo_id: libraryParam, commit_id: map(rawText(), (text) => parseCommitId(text ?? '')) }

export const commitRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/commit/:commit_id',
    auth: 'none',
    summary: 'Sends a commit.',
    params,
    async handle({ params: { repo_id: id, commit_id: commitId }, request }, { push, syncAccess }) {
      const library = await syncAccess.open(request, id)
      const commit = await push.findCommit(library, commitId)
      if (commit === undefined) throw new TextRefusal(404, 'Commit does not exist')
      return jsonTextResponse(encodeCommit(commit, libraryInCommit(library.info)))
    },
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/commit/:commit_id',
    auth: 'none',
    summary: 'Receives a commit, which joins the history when the head moves to it.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id, commit_id: commitId }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.edit(request, id)
      request.chargeTo(String(library.actor.key))
      const commit = parse(await readBody(body, LARGEST_COMMIT, request.bodyClaim))
      if (commit.id !== commitId || commit.libraryId !== id) throw badRequest('Commit does not match its URL')
      await push.receiveCommit(library, commit)
      return done
    },
  }),
]

function parse(bytes: Buffer) {
  try {
    return parseCommit(bytes.toString('utf8')).commit
  } catch (error) {
    if (error instanceof InvalidObject) throw badRequest(`Invalid commit: ${error.message}`)
    throw error
  }
}

/** The library fields of a commit are those of the current library, not those of the time of the commit. */
function libraryInCommit({ name, description, encryption }: LibraryInfo): CommitLibrary {
  if (encryption === undefined) return { name, description }
  const { version, magic, randomKey: key, salt, pwdHash, pwdHashAlgo, pwdHashParams } = encryption
  return {
    name,
    description,
    encryption: { version, magic, key, salt, ...(pwdHash && { pwdHash, pwdHashAlgo, pwdHashParams }) },
  }
}
