import { DomainError } from '../../base/errors.ts'
import { type LibraryId, parseLibraryId } from '../../base/objects/index.ts'
import { parsePath } from '../../base/paths/index.ts'
import { fileLocks, type Library } from '../../libraries/library/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { Refusal } from '../../platform/responses/index.ts'
import { badRequest, done, libraryParam, readJson } from './readers.ts'
import { route, type SyncServices } from './services.ts'
import { tokenOf } from './sync-access.ts'

const MAX_ASKED = 1000
/** Enough for this many ids and tokens. Unauthenticated, because the tokens are in the body. */
const LARGEST_ASKED = 256 * 1024

/** A queried library with its token. */
interface Asked {
  readonly id: LibraryId
  readonly token: string
  readonly ts: number
}

const lockParams = { repo_id: libraryParam }

export const rightRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/quota-check/',
    auth: 'none',
    summary: 'Returns whether a number of bytes fits into the quota.',
    params: { repo_id: libraryParam },
    query: { delta: rawText() },
    async handle({ params, query, request }, { quotas, syncAccess }) {
      if (!/^[+-]?\d{1,18}$/.test(query.delta ?? '')) throw badRequest('Invalid delta parameter.')
      const delta = Number(query.delta)
      const { info } = await syncAccess.open(request, params.repo_id)
      const room = delta > 0 ? await quotas.roomLeft(info) : undefined
      if (room !== undefined && delta >= room.left) throw new Refusal(443, 'Out of quota')
      return done
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/jwt-token',
    auth: 'none',
    summary: 'Returns a token with which a client subscribes to changes of a library.',
    params: { repo_id: libraryParam },
    async handle({ params, request }, { notificationTokens, syncAccess, syncTokens }) {
      const { info, actor } = await syncAccess.open(request, params.repo_id)
      const syncToken = syncTokens.referenceTo(tokenOf(request))
      return { jwt_token: notificationTokens.issue({ libraryId: info.id, email: actor.email, syncToken }) }
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/folder-perm',
    auth: 'none',
    summary: 'Lists the folder permissions of each library for which a token is sent.',
    body: 'raw',
    async handle({ body, request }, services) {
      // Folder permissions are not supported: the lists are always empty.
      return answerEach(services, await readJson(request, body, LARGEST_ASKED), async () => ({
        user_perms: [],
        group_perms: [],
      }))
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/locked-files',
    auth: 'none',
    summary: 'Lists the locked files of each library for which a token is sent.',
    body: 'raw',
    async handle({ body, request }, services) {
      return answerEach(services, await readJson(request, body, LARGEST_ASKED), async (library) => {
        const locks = await fileLocks.list(services.core, library.info)
        const files = locks.map((lock) => ({
          path: lock.path.slice(1),
          by_me: fileLocks.isHeldBy(lock, library.actor.key) ? 1 : 0,
        }))
        return { locked_files: files }
      })
    },
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/lock-file',
    auth: 'none',
    summary: 'Locks a file.',
    params: lockParams,
    query: { p: rawText() },
    body: 'raw',
    async handle({ params, query, request }, { core, syncAccess }) {
      const library = await syncAccess.edit(request, params.repo_id)
      await fileLocks.lock(core, library, pathOf(query.p), 0)
      return done
    },
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/unlock-file',
    auth: 'none',
    summary: 'Unlocks a file.',
    params: lockParams,
    query: { p: rawText() },
    body: 'raw',
    async handle({ params, query, request }, { core, syncAccess }) {
      const library = await syncAccess.edit(request, params.repo_id)
      await fileLocks.unlock(core, library, pathOf(query.p), undefined)
      return done
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/accessible-repos/',
    auth: 'none',
    summary: 'Lists the libraries that the account of a sync token may read.',
    query: { repo_id: rawText() },
    async handle({ query, request }, services) {
      const id = parseLibraryId(query.repo_id ?? '')
      if (id === undefined) throw badRequest('Invalid repo id')
      return accessible(services, await services.syncAccess.open(request, id))
    },
  }),
]

async function accessible({ access, accounts }: SyncServices, { actor }: Library) {
  const user = await accounts.findByKey(actor.key)
  if (user === undefined) return []
  const readable = await access.listReadable(user)
  const opened = await access.openAll(
    user,
    readable.map(({ id }) => id),
  )
  const owners = new Map<number, string>([[user.key, user.email]])
  const list = []
  for (const { id, name, permission, ownerKey, via } of readable) {
    const info = opened.get(id)?.info
    if (info === undefined) continue
    if (!owners.has(ownerKey)) owners.set(ownerKey, (await accounts.findByKey(ownerKey))?.email ?? '')
    list.push({
      version: 1,
      id,
      head_commit_id: info.head,
      name,
      mtime: info.updatedAt,
      permission,
      owner: via === 'public' ? 'Organization' : owners.get(ownerKey),
      type: TYPES[via],
    })
  }
  return list
}

const TYPES = { mine: 'repo', shared: 'srepo', group: 'grepo', public: 'grepo' } as const

/** The libraries with a valid token; others are omitted. */
async function answerEach(
  { now, syncAccess }: SyncServices,
  sent: unknown,
  about: (library: Library) => Promise<object>,
): Promise<object[]> {
  const answers: object[] = []
  for (const { id, token } of askedFor(sent)) {
    try {
      const library = await syncAccess.openByToken(token, id)
      answers.push({ repo_id: id, ts: now(), ...(await about(library)) })
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof DomainError)) throw error
    }
  }
  return answers
}

function askedFor(sent: unknown): Asked[] {
  if (!Array.isArray(sent) || sent.length > MAX_ASKED) throw badRequest('Bad JSON in request')
  return sent.map((one: unknown) => {
    const { repo_id: id, token, ts = 0 } = (one ?? {}) as Record<string, unknown>
    const library = typeof id === 'string' ? parseLibraryId(id) : undefined
    if (library === undefined || typeof token !== 'string') throw badRequest('Bad JSON in request')
    return { id: library, token, ts: Number(ts) }
  })
}

function pathOf(text: string | undefined) {
  const path = parsePath(text?.startsWith('/') ? text : `/${text ?? ''}`)
  if (path === undefined || path === '/') throw badRequest('Invalid path')
  return path
}
