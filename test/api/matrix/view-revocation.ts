import { randomUUID } from 'node:crypto'
import type { Endpoint } from '../../../src/platform/http/route.ts'
import { Client } from '../../support/client.ts'
import { makeGroup } from '../sharing-support.ts'
import type { Entry, Sent, Table } from './policy.ts'
import { credentialOf, isList, NEED_NO_RIGHT, type RevocationResult, refusalProblem } from './revocation.ts'
import { call } from './run.ts'
import { type Cast, expectOk, Stage } from './stage.ts'

// Shared folders and files are opened by ids of their own. Every call that names a library is made with such an id before and after
// the share ends.

/** An item of the stage that is shared with somebody who has no other right. */
export interface SharedItem {
  readonly kind: 'folder' | 'file'
  /** In the library. */
  readonly path: string
}

export const sharedItems: readonly SharedItem[] = [
  { kind: 'folder', path: '/docs' },
  { kind: 'file', path: '/docs/in.txt' },
]

interface ViewTrial {
  readonly stage: Stage
  readonly item: SharedItem
  readonly holder: Client
  /** The id by which the holder opens the item. */
  readonly view: string
  readonly group: number | undefined
}

/** One way to end the share of a folder or a file. */
export interface ViewEnding {
  readonly name: string
  /** The share is with a group of the holder. */
  readonly byGroup?: true
  readonly end: (trial: ViewTrial) => Promise<void>
}

const itemsUrl = (id: string, { kind }: SharedItem) =>
  kind === 'file' ? `/api/v2.1/repos/${id}/file/shared-items/` : `/api2/repos/${id}/dir/shared_items/`

export const viewEndings: readonly ViewEnding[] = [
  {
    name: 'it is no longer shared',
    end: async ({ stage, item, holder }) => {
      const query = { p: item.path, share_type: 'user', username: holder.email }
      expectOk(await stage.owner.delete(itemsUrl(stage.id, item), { query }))
    },
  },
  {
    name: 'the share expires',
    end: async ({ stage, view }) => {
      const sql = `update share set expires_at = 1 where sub_key = (select key from sub_library where id = ?)`
      await stage.cast.server.running.services.db.write((tx) => tx.run(sql, view))
    },
  },
  {
    name: 'the holder leaves the group',
    byGroup: true,
    end: async ({ stage, holder, group }) => {
      expectOk(await stage.owner.delete(`/api/v2.1/groups/${group}/members/${holder.email}/`))
    },
  },
  {
    name: 'it is deleted',
    end: async ({ stage, item }) => {
      const url = `/api/v2.1/repos/${stage.id}/${item.kind === 'file' ? 'file' : 'dir'}/`
      expectOk(await stage.owner.delete(url, { query: { p: item.path } }))
    },
  },
  {
    name: 'its library is deleted',
    end: async ({ stage }) => void expectOk(await stage.owner.delete(`/api/v2.1/repos/${stage.id}/`)),
  },
]

/** Calls every route that names a library with the id of the view, ends the share, and expects every call to be rejected. */
export async function runViewEnding(
  ending: ViewEnding,
  item: SharedItem,
  cast: Cast,
  servers: readonly string[],
  endpoints: readonly Endpoint[],
  table: Table,
  random: () => number,
): Promise<RevocationResult & { readonly allowed: number }> {
  const trial = await begin(ending, item, cast)
  const { stage, holder, view } = trial
  const surprises: string[] = []
  let calls = 0
  let allowed = 0
  const as = () =>
    new Client(servers[Math.floor(random() * servers.length)] ?? '', holder.token, holder.email)
  const prepared: [name: string, sent: Sent][] = []
  for (const { method, path } of endpoints) {
    const name = `${method} ${path}`
    const entry = table[name]
    if (entry?.policy['writer'] !== 'ok' || NEED_NO_RIGHT.includes(name)) continue
    const shown = await sentInView(trial, name, entry)
    if (shown !== undefined) prepared.push([name, shown])
  }
  for (const [name, sent] of prepared) {
    if (!name.startsWith('GET ')) continue
    calls++
    const { status, text } = await call(stage, name, 'holder', { ...sent, as: as() })
    if (status < 300) allowed++
    if (status >= 500 && status !== 503) surprises.push(`before, ${name}: ${status} ${text.slice(0, 120)}`)
  }
  await ending.end(trial)
  for (const [name, sent] of prepared) {
    calls++
    const reply = await call(stage, name, 'holder', { ...sent, as: as() })
    const answersAll = table[name]?.policy['stranger'] === 'ok' || name.includes('/batch-')
    const problem = refusalProblem(reply, answersAll ? 'empty' : 'denied')
    if (problem !== undefined) surprises.push(`after, ${name}: ${problem} ${reply.text.slice(0, 120)}`)
  }
  for (const { method, path } of endpoints.filter((endpoint) => isList(endpoint, table))) {
    calls++
    const sent = (await table[`${method} ${path}`]?.send(stage, 'writer')) ?? {}
    const { text } = await call(stage, `${method} ${path}`, 'holder', { ...sent, as: as() })
    if (text.includes(view))
      surprises.push(`after, ${path} still names the ${item.kind}: ${text.slice(0, 200)}`)
  }
  await stage.drop()
  return {
    calls,
    allowed,
    surprises: surprises.map((text) => `${item.kind}, ${ending.name}: ${text}`),
  }
}

async function begin(ending: ViewEnding, item: SharedItem, cast: Cast): Promise<ViewTrial> {
  const stage = await Stage.make(cast)
  const { owner } = stage
  const holder = await cast.server.signUp()
  const group = ending.byGroup && (await makeGroup(`Views ${randomUUID()}`, owner, holder))
  const to =
    group === undefined
      ? { share_type: 'user', username: holder.email }
      : { share_type: 'group', group_id: group }
  const form = { ...to, permission: 'rw' }
  const reply = expectOk(await owner.put(itemsUrl(stage.id, item), { query: { p: item.path }, form }))
  return { stage, item, holder, view: reply.body.virtual_repo_id, group }
}

/** The call as the holder makes it; undefined if it names no library, or cannot name the item. */
async function sentInView(trial: ViewTrial, name: string, entry: Entry): Promise<Sent | undefined> {
  const { stage, item, holder, view } = trial
  const credential = credentialOf(entry.policy)
  if (credential === 'account') return inView(await entry.send(stage, 'writer'), name, stage.id, view)
  if (credential !== 'webdav password' || item.kind === 'file') return undefined
  // WebDAV shows a shared folder under its name. Single files are not shown.
  stage.asker = holder
  const { as: _, ...sent } = await entry.send(stage, 'viewer')
  stage.asker = undefined
  return JSON.parse(JSON.stringify(sent).replaceAll(`${stage.name}/`, `${item.path.slice(1)}/`)) as Sent
}

/** The call with the id of the view in place of that of the library; undefined if it names no library. */
function inView(sent: Sent, name: string, id: string, view: string): Sent | undefined {
  const { as: _, ...rest } = sent
  const isInPath = name.includes(':repo_id') && rest.params?.['repo_id'] === undefined
  const text = JSON.stringify(rest)
  if (!isInPath && !text.includes(id)) return undefined
  const shown = JSON.parse(text.replaceAll(id, view)) as Sent
  return isInPath ? { ...shown, params: { ...shown.params, repo_id: view } } : shown
}
