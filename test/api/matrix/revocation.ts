import type { Endpoint } from '../../../src/platform/http/route.ts'
import { Client, type Reply } from '../../support/client.ts'
import { forgetPrograms, type Leaves, leftoversOf, makeLeftovers } from './leftovers.ts'
import type { Entry, Outcome, Policy, Sent, Table } from './policy.ts'
import { call, problemOf } from './run.ts'
import { CANARIES, type CallerName, type Cast, expectOk, Stage } from './stage.ts'

/** The kind of credential of a route, recognized by the callers that its policy names. */
export type Credential = 'account' | 'library token' | 'sync token' | 'ticket' | 'link' | 'webdav password'

/** In place of a caller: any rejection is accepted. */
export const REFUSED = 'refused'

/** Calls that name the library but need no permission on it: about the account's own star, or as an administrator of the group. */
export const NEED_NO_RIGHT = [
  'DELETE /api/v2.1/starred-items/',
  'DELETE /api2/groups/:group_id/repos/:repo_id/',
  'DELETE /api/v2.1/groups/:group_id/libraries/:repo_id/',
]
/** Lists that may still name an inaccessible library: notifications that were addressed to the account. */
const NOTICES = ['GET /api/v2.1/notifications/', 'GET /api/v2.1/all-notifications/']
const PERSONAL_TOKENS = '/api/v2.1/personal-tokens/'
/** An archive is polled at the process that creates it. */
const OF_ONE_PROCESS = ['GET /d/:token/archive/', 'GET /seafhttp/zip/:ticket']
/** The same routes as those under `/dav/`. */
const SECOND_PREFIX = '/seafdav/'
/** Deleting a deleted item again succeeds. */
const IDEMPOTENT = ['DELETE /api/v2.1/repos/:repo_id/']

/** One way to revoke a permission, and its effect. */
export interface Ending {
  readonly name: string
  /** The holder of the permission: a caller of the role matrix, played by an account created for this. */
  readonly role: CallerName
  /** The credential used instead of the API token of the session. */
  readonly shows?: (trial: Trial) => Promise<Client>
  readonly prepare?: (trial: Trial) => Promise<void>
  readonly end: (trial: Trial) => Promise<void>
  /**
   * The remaining access of each credential: that of this caller of the role matrix. A credential that is left out is not
   * tested; one that keeps its own role stays valid.
   */
  readonly becomes: Readonly<Partial<Record<Credential, string>>>
  /** Only the permission on the library ends, not the account, so that only calls that name the library are rejected. */
  readonly ofLibrary?: boolean
  /** Tickets of the test by route, if they are not issued to an account. */
  readonly tickets?: (trial: Trial) => Promise<Readonly<Record<string, string>>>
  /** What of the holder is still stored afterwards, and why that may be. The rest has to be gone. */
  readonly leaves: Leaves
  /** The caller that represents the credential before the revocation, if it is not the role. */
  readonly was?: Readonly<Partial<Record<Credential, string>>>
}

/** A stage and the account that loses the permission. */
export interface Trial {
  readonly cast: Cast
  readonly stage: Stage
  readonly holder: Client
  readonly admin: Client
  /** The credentials of the holder. */
  shown: Client
}

/** A prepared call of a route. Its credential was issued before the revocation. */
interface Prepared {
  readonly name: string
  readonly credential: Credential
  readonly before: Outcome
  readonly after: Outcome
  /** Callers of the role matrix, before and after. */
  readonly was: string
  readonly becomes: string
  readonly sent: Sent
}

export interface RevocationResult {
  readonly calls: number
  readonly surprises: readonly string[]
}

/** The credential of a route; none for public routes, undefined if its policy does not tell. */
export function credentialOf(policy: Policy): Credential | 'none' | undefined {
  if ('readingApp' in policy) return 'library token'
  if ('noToken' in policy) return 'sync token'
  if ('unknownTicket' in policy) return 'ticket'
  if ('openLink' in policy) return 'link'
  if ('wrongPassword' in policy) return 'webdav password'
  if (!('anonymous' in policy)) return undefined
  return policy['anonymous'] === 'unauthorised' ? 'account' : 'none'
}

const BEFORE: Readonly<Partial<Record<Credential, string>>> = {
  'library token': 'writingApp',
  link: 'openLink',
}

/**
 * Uses every credential on every route at each server, revokes the permission at the first server, and calls every route again
 * at each of them: the very next request must be rejected. `order` shuffles the calls, so that each may be the next one.
 */
export async function runEnding(
  ending: Ending,
  cast: Cast,
  servers: readonly string[],
  endpoints: readonly Endpoint[],
  table: Table,
  random: () => number,
): Promise<RevocationResult> {
  const surprises: string[] = []
  let calls = 0
  const trial = await begin(ending, cast, async () => {})
  const { stage } = trial
  const prepared = await prepareAll(ending, trial, endpoints, table, surprises)
  const ask = async (one: Prepared, url: string, wanted: Outcome, role: string, when: string) => {
    calls++
    const as = one.sent.as ?? stage.client(ending.role)
    const client = one.credential === 'account' ? trial.shown : as
    const reply = await call(stage, one.name, role, {
      ...one.sent,
      as: new Client(url, client.token, client.email),
    })
    const problem = role === REFUSED ? refusalProblem(reply, wanted) : problemOf(reply, role, wanted)
    if (problem === undefined) return
    const where = servers.length > 1 ? ` at server ${servers.indexOf(url) + 1}` : ''
    surprises.push(
      `${when} ${one.name} by ${one.credential}${where}: ${problem}, not ${wanted}: ${reply.text.slice(0, 120)}`,
    )
  }
  const serving = ({ name }: Prepared) => (OF_ONE_PROCESS.includes(name) ? servers.slice(0, 1) : servers)
  // A call that changes something would change the stage, or consume its ticket, so it is made only after the revocation.
  for (const one of prepared.filter(isHarmless)) {
    for (const url of serving(one)) await ask(one, url, one.before, one.was, 'before,')
  }
  await ending.end(trial)
  for (const one of shuffled(prepared, random)) {
    if (one.after === 'ok' && !one.name.startsWith('GET ')) continue
    const at = one.after === 'ok' ? serving(one) : servers
    for (const url of at) await ask(one, url, one.after, one.becomes, 'after,')
  }
  if (ending.ofLibrary === true && ending.becomes.account === 'stranger') {
    const lists = endpoints.filter((endpoint) => isList(endpoint, table))
    for (const { method, path } of lists) {
      for (const url of servers) {
        calls++
        const { text } = await call(stage, `${method} ${path}`, ending.role, {
          ...(await table[`${method} ${path}`]?.send(stage, ending.role)),
          as: new Client(url, trial.shown.token, trial.shown.email),
        })
        // A personal token for the library keeps its id, which its holder knows.
        const isNamed = text.includes(stage.id) && path !== PERSONAL_TOKENS
        if (isNamed || [stage.name, 'kingfisher'].some((name) => text.includes(name))) {
          surprises.push(`after, ${path} still names the library: ${text.slice(0, 200)}`)
        }
      }
    }
  }
  await stage.drop()
  return { calls, surprises: surprises.map((text) => `${ending.name}: ${text}`) }
}

/** Has a holder make everything it may make, revokes the permission, and compares what is left with the table. */
export async function runLeftovers(ending: Ending, cast: Cast): Promise<readonly string[]> {
  const trial = await begin(ending, cast, makeLeftovers)
  const { key } = await cast.server.running.services.accounts.get(trial.holder.email)
  const had = await leftoversOf(trial, key)
  await ending.end(trial)
  const left = await leftoversOf(trial, key)
  await forgetPrograms(trial)
  await trial.stage.drop()
  return had.flatMap((kind) => {
    const isExpected = ending.leaves[kind] !== undefined
    if (left.includes(kind) === isExpected) return []
    return isExpected ? `it ends a ${kind}, which the table says it leaves` : `it leaves a ${kind} behind`
  })
}

async function begin(ending: Ending, cast: Cast, make: (trial: Trial) => Promise<void>): Promise<Trial> {
  const holder = await cast.server.signUp(ending.role === 'administrator' ? { role: 'admin' } : {})
  // An owner shares with the group, and a member reads through it: both must be members.
  const url = `/api/v2.1/groups/${cast.group}/members/`
  if (['owner', 'groupMember'].includes(ending.role)) {
    expectOk(await cast.callers.owner.post(url, { form: { email: holder.email } }))
  }
  const recast = cast.recast({ [ending.role]: holder })
  const stage = await Stage.make(recast)
  const trial: Trial = { cast: recast, stage, holder, admin: cast.callers.administrator, shown: holder }
  await make(trial)
  await ending.prepare?.(trial)
  if (ending.shows !== undefined) {
    trial.shown = await ending.shows(trial)
    stage.asker = trial.shown
  }
  return trial
}

async function prepareAll(
  ending: Ending,
  trial: Trial,
  endpoints: readonly Endpoint[],
  table: Table,
  surprises: string[],
): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  const tickets = await ending.tickets?.(trial)
  for (const endpoint of endpoints) {
    const name = `${endpoint.method} ${endpoint.path}`
    const entry = table[name]
    if (entry === undefined) {
      surprises.push(`${name} has no entry: say in test/api/matrix/ how it is called and by whom`)
      continue
    }
    const credential = credentialOf(entry.policy)
    if (credential === undefined) surprises.push(`${name}: its policy does not say which credential opens it`)
    if (credential === undefined || credential === 'none') continue
    const isAdmitted = ending.shows === undefined || credential !== 'account' || endpoint.scope !== 'none'
    const one = isAdmitted ? await prepareOne(ending, trial.stage, name, entry, credential) : undefined
    if (one === undefined) continue
    if (tickets === undefined || credential !== 'ticket') prepared.push(one)
    else if (tickets[name] !== undefined) {
      prepared.push({ ...one, sent: { ...one.sent, params: { ...one.sent.params, ticket: tickets[name] } } })
    }
  }
  return prepared
}

async function prepareOne(
  ending: Ending,
  stage: Stage,
  name: string,
  entry: Entry,
  credential: Credential,
): Promise<Prepared | undefined> {
  const becomes = ending.becomes[credential]
  if (name.endsWith(SECOND_PREFIX)) return undefined
  const was = ending.was?.[credential] ?? BEFORE[credential] ?? ending.role
  const before = entry.policy[was]
  if (becomes === undefined || (before !== 'ok' && before !== 'empty')) return undefined
  const sent = await entry.send(stage, was)
  // A policy that does not name a caller rejects it.
  const after = becomes === REFUSED ? afterGone(name, entry.policy) : (entry.policy[becomes] ?? 'denied')
  const isAboutLibrary = !NEED_NO_RIGHT.includes(name) && namesLibrary(stage, name, sent, credential)
  if (ending.ofLibrary === true && !isAboutLibrary) return undefined
  return { name, credential, before, after, was, becomes, sent }
}

/** Whether it lists the account's own items, regardless of the library in the request. */
export function isList({ method, path }: Endpoint, table: Table): boolean {
  const name = `${method} ${path}`
  const policy = table[name]?.policy
  const isOpenToAll = policy?.['stranger'] === 'ok' && policy['anonymous'] === 'unauthorised'
  return (
    method === 'GET' &&
    isOpenToAll &&
    !path.includes(':') &&
    !path.endsWith('/events/') &&
    !NOTICES.includes(name)
  )
}

function namesLibrary(stage: Stage, name: string, sent: Sent, credential: Credential): boolean {
  if (credential !== 'account') return true
  const { params, query, form, json } = sent
  const isInPath = name.includes(':repo_id') && params?.['repo_id'] === undefined
  return isInPath || JSON.stringify([params, query, form, json]).includes(stage.id)
}

/** Calls that neither change anything nor consume their ticket. */
function isHarmless({ name, credential }: Prepared): boolean {
  return name.startsWith('GET ') && credential !== 'ticket'
}

/** Calls that answer everybody without content continue to do so. */
function afterGone(name: string, { stranger, unshared }: Policy): Outcome {
  const answersAll = [stranger, unshared].some((outcome) => outcome === 'empty' || outcome === 'ok')
  return answersAll || IDEMPOTENT.includes(name) ? 'empty' : 'denied'
}

export function refusalProblem({ status, text }: Reply, wanted: Outcome): string | undefined {
  if (status >= 400 && status < 500) return undefined
  return wanted === 'empty' && status < 300 && !CANARIES.some((canary) => text.includes(canary))
    ? undefined
    : String(status)
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((value) => ({ value, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value)
}
