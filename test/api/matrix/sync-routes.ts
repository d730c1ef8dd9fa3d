import { makeTree, packets, SyncClient } from '../../support/sync-client.ts'
import { type Policy, type Sent, type Table, under } from './policy.ts'
import type { Stage } from './stage.ts'

/** Devices by their sync token: the header alone authenticates on these routes. */
const reads: Policy = {
  noToken: 400,
  unknownToken: 'denied',
  otherLibrary: 'denied',
  unshared: 'denied',
  deactivated: 'denied',
  reader: 'ok',
  writer: 'ok',
  owner: 'ok',
}
const writes: Policy = { ...reads, reader: 'denied' }
const lists: Policy = Object.fromEntries(
  Object.entries(reads).map(([caller, outcome]) => [caller, outcome === 'ok' ? 'ok' : 'empty']),
)

type More = (stage: Stage) => Promise<Sent> | Sent
const shown = (more: More = () => ({})) => {
  return async (stage: Stage, caller: string): Promise<Sent> => {
    const token = await stage.syncToken(caller)
    const sent = await more(stage)
    return {
      ...sent,
      as: stage.cast.callers.anonymous,
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(token !== undefined && { 'Seafile-Repo-Token': token }),
      },
    }
  }
}
const bodied = (caller: string, token: string | undefined, { id, cast }: Stage): Sent => ({
  as: cast.callers.anonymous,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  raw: JSON.stringify(caller === 'noToken' ? [] : [{ repo_id: id, token, ts: 0 }]),
})

const tree = makeTree({ 'pushed.txt': 'pushed' }, 'owner@example.org')
const [blockId = '', block = Buffer.alloc(0)] = [...tree.blocks][0] ?? []

const owned = async (stage: Stage): Promise<SyncClient> => {
  return new SyncClient(stage.owner.url, stage.id, (await stage.syncToken('owner')) ?? '', stage.owner.email)
}
/** The next commit a device would push. */
const pushed = (stage: Stage): Promise<string> =>
  stage.once('pushed', async () => {
    const sync = await owned(stage)
    return sync.send(tree, await sync.head())
  })

/** The calls of sync clients. */
export const syncRoutes: Table = {
  ...under(reads, {
    'GET /seafhttp/repo/:repo_id/permission-check/': shown(() => ({
      query: { op: 'download', client_id: '0'.repeat(40), client_name: 'x' },
    })),
    'GET /seafhttp/repo/:repo_id/commit/HEAD': shown(),
    'GET /seafhttp/repo/:repo_id/commit/:commit_id': shown(),
    'GET /seafhttp/repo/:repo_id/fs-id-list/': shown((stage) => ({ query: { 'server-head': stage.gone } })),
    'POST /seafhttp/repo/:repo_id/pack-fs/': shown(async (stage) => {
      const { file_id } = await stage.file()
      return { raw: JSON.stringify([file_id]) }
    }),
    'POST /seafhttp/repo/:repo_id/check-fs/': shown(() => ({ raw: JSON.stringify([tree.root]) })),
    'POST /seafhttp/repo/:repo_id/check-blocks/': shown(() => ({ raw: JSON.stringify([blockId]) })),
    'GET /seafhttp/repo/:repo_id/block/:block_id': shown(async (stage) => {
      return { params: { block_id: (await stage.file()).blklist[0] } }
    }),
    'GET /seafhttp/repo/:repo_id/block-map/:file_id': shown(async (stage) => {
      return { params: { file_id: (await stage.file()).file_id } }
    }),
    'GET /seafhttp/repo/:repo_id/quota-check/': shown(() => ({ query: { delta: 10 } })),
    'GET /seafhttp/repo/:repo_id/jwt-token': shown(),
    'GET /seafhttp/accessible-repos/': shown(({ id }) => ({ query: { repo_id: id } })),
  }),
  ...under(writes, {
    'PUT /seafhttp/repo/:repo_id/commit/:commit_id': shown(async (stage) => {
      const sync = await owned(stage)
      const { id, json } = sync.makeCommit(tree.root, await sync.head())
      return { params: { commit_id: id }, raw: JSON.stringify(json) }
    }),
    'POST /seafhttp/repo/:repo_id/recv-fs/': shown(() => ({ raw: packets(tree.objects) })),
    'PUT /seafhttp/repo/:repo_id/block/:block_id': shown(() => ({
      params: { block_id: blockId },
      raw: block,
    })),
    'PUT /seafhttp/repo/:repo_id/lock-file': shown(() => ({ query: { p: 'in.txt' } })),
    'PUT /seafhttp/repo/:repo_id/unlock-file': async (stage, caller) => {
      // The holder unlocks its own lock; the others try the owner's.
      const name = caller === 'writer' ? 'in.txt' : 'docs/in.txt'
      await stage.once(`lock ${name}`, () => {
        const url = `/api/v2.1/repos/${stage.id}/file/`
        const by = stage.client(caller === 'writer' ? 'writer' : 'owner')
        return by.put(url, { query: { p: `/${name}` }, form: { operation: 'lock' } })
      })
      return shown(() => ({ query: { p: name } }))(stage, caller)
    },
    'PUT /seafhttp/repo/:repo_id/commit/HEAD': shown(async (stage) => ({
      query: { head: await pushed(stage) },
    })),
  }),
  ...under(lists, {
    'POST /seafhttp/repo/folder-perm': async (stage, caller) =>
      bodied(caller, await stage.syncToken(caller), stage),
    'POST /seafhttp/repo/locked-files': async (stage, caller) =>
      bodied(caller, await stage.syncToken(caller), stage),
  }),
}
