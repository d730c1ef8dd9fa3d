import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { addStar, removeStar } from '../../../libraries/attributes/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Account } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { deniedMessage } from '../common/fault-messages.ts'
import { type SentPath, sentPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { route, type StarServices } from './services.ts'
import { starredFileToWire } from './star-wire.ts'
import { listStarred } from './starred-entries.ts'
import { needed, starredFile } from './stars.schema.ts'

const words = {
  ...deniedMessage('Permission denied'),
  'library-not-found': (): [number, string] => [404, 'File not found'],
  'path-not-found': (): [number, string] => [404, 'File not found'],
}

export const starredFileRoutes = [
  route({
    method: 'GET',
    path: '/api2/starredfiles/',
    auth: 'user',
    summary: 'Lists the files the caller starred.',
    compatibility: 'supported',
    callers: 'every account',
    prefix: true,
    responses: () => ({ 200: json(kinds.array(starredFile), 'The files.') }),
    async handle({ user }, services) {
      const starred = await listStarred(services, user)
      return starred.flatMap(({ library, path, entry }) =>
        entry?.kind === 'file' ? [starredFileToWire(library, path, entry, services.now())] : [],
      )
    },
  }),
  route({
    method: 'POST',
    path: '/api2/starredfiles/',
    auth: 'user',
    summary: 'Stars a file.',
    compatibility: 'supported',
    body: { repo_id: rawText(), p: sentPath },
    faults: words,
    prefix: true,
    responses: () => ({ 201: json(kinds.successWord, 'The file has a star.') }),
    details: () => ({ parameters: needed }),
    async handle({ user, body }, services) {
      const { library, sent } = await open(services, user, body.repo_id, body.p)
      const { path } = await fileAt(library, sent)
      await addStar(services.core, library, path, false)
      return jsonResponse(201, 'success')
    },
  }),
  route({
    method: 'DELETE',
    path: '/api2/starredfiles/',
    auth: 'user',
    summary: 'Removes the star of a file.',
    compatibility: 'supported',
    query: { repo_id: rawText(), p: sentPath },
    faults: words,
    prefix: true,
    responses: () => ({ 200: json(kinds.successWord, 'The file has no star.') }),
    details: () => ({ parameters: needed }),
    async handle({ user, query }, services) {
      const { library, sent } = await open(services, user, query.repo_id, query.p)
      const removed = sent.path && (await removeStar(services.core, user, library.info.id, sent.path))
      // Idempotent. The star of a deleted file can be removed too.
      if (removed !== true) await fileAt(library, sent)
      return 'success'
    },
  }),
]

async function open(
  { access }: StarServices,
  user: Account,
  sentId: string | undefined,
  sent: SentPath | undefined,
): Promise<{ library: Library; sent: SentPath }> {
  if (!sentId || sent === undefined) throw errorMessage(400, 'Library ID or path is missing.')
  const id = parseLibraryId(sentId) ?? fail({ code: 'library-not-found', id: sentId })
  return { library: await access.open(user, id), sent }
}
