import type { Endpoint } from '../../../src/platform/http/route.ts'
import type { Client, Reply } from '../../support/client.ts'
import { type Entry, type Outcome, type Sent, type Table, withBounds } from './policy.ts'
import { CANARIES, type Cast, Stage } from './stage.ts'

/** Tables that a call might change. */
const COUNTED = [
  'account',
  'api_token',
  'copy_move_task',
  'file_lock',
  'group_member',
  'library',
  'link',
  'monitored_library',
  'received_object',
  'share',
  'smart_link',
  'star',
  'sub_library',
  'sync_token',
  'ticket',
  'user_group',
  'webdav_property',
  'webhook',
]
const OF_LIBRARY = [
  'file_lock',
  'library_block',
  'link',
  'share',
  'star',
  'sub_library',
  'webdav_property',
  'webhook',
]
/** Callers that must not learn of the library, even through public calls. */
const CLOSED_TO = ['stranger', 'elsewhereToken']
const GRANTED = ['api_token', 'smart_link', 'sync_token', 'ticket']

/** The state that a rejected call must not change. */
async function snapshot({ cast, id }: Stage): Promise<string> {
  const { db } = cast.server.running.services
  const lines: string[] = []
  const note = async (sql: string, ...values: (string | number)[]) => {
    for (const row of await db.all(sql, ...values)) lines.push(`${sql}: ${JSON.stringify(row)}`)
  }
  for (const table of COUNTED) await note(`select count(*) as "${table}" from ${table}`)
  await note('select * from library where id = ?', id)
  await note('select key, email, name, password_hash, role, active, quota, contact_email from account')
  await note('select * from user_group order by key')
  await note('select * from group_member order by group_key, account_key')
  const of = 'where library_key = (select key from library where id = ?)'
  for (const table of OF_LIBRARY) await note(`select * from ${table} ${of}`, id)
  return lines.sort().join('\n')
}

function differences(before: string, after: string): string {
  const [was, is] = [new Set(before.split('\n')), new Set(after.split('\n'))]
  return [...is.difference(was)].join(' ')
}

export interface Result {
  readonly routes: number
  readonly calls: number
  readonly surprises: readonly string[]
}

/** Calls every route as every caller of its entry. */
export async function runMatrix(cast: Cast, endpoints: readonly Endpoint[], table: Table): Promise<Result> {
  const run = new Run(await Stage.make(cast))
  for (const endpoint of endpoints) {
    const name = `${endpoint.method} ${endpoint.path}`
    const entry = table[name]
    if (entry !== undefined) await run.route(name, { ...entry, policy: withBounds(endpoint, entry.policy) })
    else run.surprises.push(`${name} has no entry: say in test/api/matrix/ how it is called and by whom`)
  }
  await run.stage.drop()
  return { routes: endpoints.length, calls: run.calls, surprises: run.surprises }
}

class Run {
  readonly surprises: string[] = []
  calls = 0
  stage: Stage

  constructor(stage: Stage) {
    this.stage = stage
  }

  /** First all rejected callers, after which nothing may have changed; then each permitted one on a fresh stage. */
  async route(name: string, entry: Entry): Promise<void> {
    const callers = Object.keys(entry.policy)
    const refused = callers.filter((caller) => entry.policy[caller] !== 'ok')
    const prepared: [caller: string, sent: Sent][] = []
    for (const caller of refused) prepared.push([caller, await entry.send(this.stage, caller)])
    const before = await snapshot(this.stage)
    for (const [caller, sent] of prepared) await this.#ask(name, entry, caller, sent)
    const after = await snapshot(this.stage)
    if (after !== before) {
      this.surprises.push(`${name} was refused and changed ${differences(before, after)}`)
      await this.#renew()
    }
    for (const caller of callers) {
      if (!refused.includes(caller)) await this.#allowed(name, entry, caller)
    }
  }

  async #allowed(name: string, entry: Entry, caller: string): Promise<void> {
    const sent = await entry.send(this.stage, caller)
    if (name.startsWith('GET ')) return this.#ask(name, entry, caller, sent)
    const before = await snapshot(this.stage)
    await this.#ask(name, entry, caller, sent)
    if (!isSame(before, await snapshot(this.stage))) await this.#renew()
  }

  async #renew(): Promise<void> {
    await this.stage.drop()
    this.stage = await Stage.make(this.stage.cast)
  }

  async #ask(name: string, entry: Entry, caller: string, sent: Sent): Promise<void> {
    this.calls++
    const reply = await call(this.stage, name, caller, sent)
    const wanted = entry.policy[caller] ?? 'ok'
    const problem = problemOf(reply, caller, wanted)
    if (problem === undefined) return
    this.surprises.push(`${name} by ${caller}: ${problem}, not ${wanted}: ${reply.text.slice(0, 160)}`)
  }
}

/** Issued credentials do not change the stage. */
function isSame(before: string, after: string): boolean {
  const rest = (text: string) =>
    text.split('\n').filter((line) => !GRANTED.some((one) => line.includes(`as "${one}"`)))
  return rest(before).join() === rest(after).join()
}

export async function call(stage: Stage, name: string, caller: string, sent: Sent): Promise<Reply> {
  const { params, below = '', as, headOnly, form, ...rest } = sent
  const [method = '', path = ''] = name.split(' ')
  const values: Record<string, string | number> = { repo_id: stage.id, commit_id: stage.gone, ...params }
  const at = path.replace(/:(\w+)/g, (_, key: string) => encodeURI(String(values[key] ?? `no ${key}`)))
  const url = `${at}${below}`
  // Entries for several methods of one path send the same request.
  const options = method === 'GET' || form === undefined ? rest : { ...rest, form }
  const client = as ?? stage.client(caller)
  return headOnly ? headOf(client, url) : client.call(method, url, options)
}

export function problemOf(reply: Reply, caller: string, wanted: Outcome): string | undefined {
  const told = CANARIES.find((canary) => reply.text.includes(canary))
  if (told !== undefined && (wanted !== 'ok' || CLOSED_TO.includes(caller)))
    return `${reply.status} tells of ${told}`
  const got = outcomeOf(reply)
  if (wanted === 'shut') return reply.status < 500 ? undefined : String(reply.status)
  if (wanted === 'empty') return got === 'ok' ? undefined : String(reply.status)
  if (wanted === 'unauthorised' && [401, 403].includes(reply.status)) return undefined
  return got === wanted || reply.status === wanted ? undefined : String(reply.status)
}

function outcomeOf({ status }: Reply): Outcome {
  if (status < 400) return 'ok'
  return ({ 401: 'unauthorised', 403: 'denied', 404: 'absent' }[status] as Outcome | undefined) ?? status
}

async function headOf(client: Client, url: string): Promise<Reply> {
  const headers: Record<string, string> =
    client.token === undefined ? {} : { Authorization: `Token ${client.token}` }
  const response = await fetch(client.url + url, { headers })
  await response.body?.cancel()
  return { status: response.status, headers: response.headers, text: '', body: '' }
}
