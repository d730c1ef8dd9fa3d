import type { Endpoint } from '../../../src/platform/http/route.ts'
import type { Entry, Sent } from '../../api/matrix/policy.ts'
import { Cast, Stage } from '../../api/matrix/stage.ts'
import { table } from '../../api/matrix/table.ts'
import { startServer } from '../../support/server.ts'
import { isLong } from '../../support/tier.ts'
import { longFields, longLists, longQuery, unusualBodies, wholePage } from './bodies.ts'
import { budgetOf, budgets } from './budgets.ts'
import { enlarge, repair } from './largest-stage.ts'
import { type Answer, MeasuringClient } from './measuring-client.ts'
import { prepare } from './prepare.ts'
import { slowness, TurnMeter } from './turn-meter.ts'

// A program that calls every route of a server with its largest body and the largest stored state, and prints what exceeds its budget. It is not
// a test itself: the hooks of node:test follow every promise, which makes turns of the event loop five times as long.

const MAX_TURN_MS = 50
/** A first call compiles code, and any call may meet a garbage collection: what is too long each time is too long. */
const TRIES = 8
const WITHOUT_BODY = ['GET', 'OPTIONS']
/** In this order, because calls need what later ones change. */
const METHODS = [
  'GET',
  'OPTIONS',
  'PROPFIND',
  'POST',
  'PUT',
  'MKCOL',
  'COPY',
  'PROPPATCH',
  'MOVE',
  'UNLOCK',
  'LOCK',
  'DELETE',
]
/** After all others of their method and before the deletions: they end links, tokens and shares of the library. */
const LAST = ['POST /api/v2.1/repos/:repo_id/commits/:commit_id/revert/', 'PUT /api2/repos/:repo_id/owner/']
/** Refused, because the stage has what they create, or earlier calls have moved what they change. */
const REFUSED = [
  'POST /api/v2.1/share-links/',
  'POST /api/v2.1/repos/:repo_id/webhooks/',
  'PUT /api/v2.1/repos/:repo_id/file/',
  'PUT /api/v2.1/via-repo-token/file/',
  'PUT /api2/repos/:repo_id/file/comments/:comment_id/',
  'LOCK /seafdav/',
]
/** Of bodies that every route gets. Larger ones take most of the time, and their parsers are measured once for each limit. */
const USUAL_BODY_BYTES = isLong ? Number.POSITIVE_INFINITY : 2 ** 20

/** What the program prints, as one line of JSON. */
export interface Report {
  readonly routes: number
  readonly calls: number
  readonly longestTurns: string
  readonly surprises: readonly string[]
}

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`

function placeOf(endpoint: Endpoint): number {
  const place = METHODS.indexOf(endpoint.method)
  return LAST.includes(nameOf(endpoint)) ? METHODS.indexOf('DELETE') - 0.5 : place
}

async function main(): Promise<Report> {
  await using server = await startServer({
    env: { CARREL_WEBHOOK_PRIVATE: 'on', CARREL_SECURITY_CONTACT: 'security@example.org' },
  })
  const { endpoints } = server.running
  const stage = await Stage.make(await Cast.make(server))
  const { head } = await enlarge(stage)
  await using client = new MeasuringClient()
  using meter = new TurnMeter()
  const run = new Run(stage, head, client, meter)
  for (const endpoint of endpoints.toSorted((a, b) => placeOf(a) - placeOf(b))) await run.route(endpoint)
  const served = new Set(endpoints.map(nameOf))
  const unknown = Object.keys(budgets).filter((name) => !served.has(name))
  return {
    routes: endpoints.length,
    calls: run.calls,
    longestTurns: run.longestTurns(),
    surprises: [...run.surprises, ...unknown.map((name) => `${name} has a budget and is not served`)],
  }
}

class Run {
  readonly surprises: string[] = []
  calls = 0
  readonly #stage: Stage
  /** The head of the enlarged library. */
  readonly #head: string
  readonly #client: MeasuringClient
  readonly #meter: TurnMeter
  readonly #turns: { name: string; ms: number }[] = []
  /** Limits of bodies that have met every unusual body. All routes share the parsers. */
  readonly #parsed = new Set<number>()

  constructor(stage: Stage, head: string, client: MeasuringClient, meter: TurnMeter) {
    this.#stage = stage
    this.#head = head
    this.#client = client
    this.#meter = meter
  }

  longestTurns(): string {
    const sorted = this.#turns.toSorted((a, b) => b.ms - a.ms).slice(0, 5)
    return sorted.map(({ name, ms }) => `${ms.toFixed(0)} ms ${name}`).join(', ')
  }

  /** Calls a route. A call that could not be prepared is a surprise like any other. */
  async route(endpoint: Endpoint): Promise<void> {
    try {
      await this.#route(endpoint)
    } catch (error) {
      this.surprises.push(`${nameOf(endpoint)} could not be called: ${String(error).slice(0, 300)}`)
    }
  }

  async #route(endpoint: Endpoint): Promise<void> {
    const name = nameOf(endpoint)
    const entry = table[name]
    if (entry === undefined) {
      this.surprises.push(`${name} has no entry: say in test/api/matrix/ how it is called`)
      return
    }
    const fields = endpoint.reads.filter((field) => field !== 'raw')
    const permitted = await this.#measure(endpoint, entry, 'permitted', (sent) => ({
      ...sent,
      query: { ...sent.query, ...wholePage(fields) },
    }))
    const isMissing = permitted.status >= 400 && entry.policy[callerOf(entry)] === 'ok'
    if (isMissing && endpoint.method !== 'DELETE' && !REFUSED.includes(name)) {
      this.surprises.push(`${name} was refused: ${permitted.status} ${permitted.text}`)
    }
    if (fields.length > 0)
      await this.#measure(endpoint, entry, 'a long query', (sent) => longQuery(sent, fields))
    if (WITHOUT_BODY.includes(endpoint.method) || endpoint.reads.includes('raw')) return
    const { bodyLimit } = endpoint
    const usual = Math.min(bodyLimit, USUAL_BODY_BYTES)
    await this.#measure(endpoint, entry, 'long fields', (sent) => longFields(sent, fields, usual))
    const permittedJson = (await entry.send(this.#stage, callerOf(entry))).json
    if (permittedJson !== undefined) {
      await this.#measure(endpoint, entry, 'long lists', (sent) =>
        longLists(sent, usual, (text, n) => `${text}${n}`),
      )
      await this.#measure(endpoint, entry, 'lists of short texts', (sent) =>
        longLists(sent, usual, (_, n) => `${n}`),
      )
    }
    if (this.#parsed.has(bodyLimit) && !isLong) return
    this.#parsed.add(bodyLimit)
    for (const [kind, change] of Object.entries(unusualBodies(fields[0], bodyLimit))) {
      await this.#measure(endpoint, entry, kind, change)
    }
  }

  /** Repeats a call until its turns are short, and notes if they never are, or if the answer exceeds the budget. */
  async #measure(
    endpoint: Endpoint,
    entry: Entry,
    kind: string,
    change: (sent: Sent) => Sent,
  ): Promise<Answer> {
    const name = nameOf(endpoint)
    const caller = callerOf(entry)
    for (let tries = 1; ; tries++) {
      const sent = change(await entry.send(this.#stage, caller))
      const prepared = prepare(this.#stage, name, caller, sent)
      this.#meter.takeLongestMs()
      const answer = await this.#client.send(prepared)
      const ms = this.#meter.takeLongestMs()
      this.calls += 1
      if (endpoint.method !== 'GET' && answer.status < 400) await repair(this.#stage, this.#head)
      const tookLong = ms > MAX_TURN_MS && ms > MAX_TURN_MS * slowness()
      if (tookLong && tries < TRIES) continue
      this.#turns.push({ name: `${name}, ${kind}`, ms })
      const sentBytes = prepared.url.length + (prepared.body?.length ?? 0)
      const most = budgetOf(name, sentBytes)
      const told = `${name} with ${kind} (${sentBytes} bytes, ${answer.status})`
      if (tookLong) this.surprises.push(`${told}: a turn of ${ms.toFixed(0)} ms`)
      if (answer.bytes > most) this.surprises.push(`${told}: ${answer.bytes} bytes, budget ${most}`)
      if (answer.status >= 500 && entry.policy[caller] !== answer.status) {
        this.surprises.push(`${told}: ${answer.text}`)
      }
      return answer
    }
  }
}

/** The owner if permitted, because the largest state is theirs. */
function callerOf({ policy }: Entry): string {
  const permitted = Object.keys(policy).filter((caller) => policy[caller] === 'ok')
  return permitted.find((caller) => caller === 'owner') ?? permitted[0] ?? 'owner'
}

console.log(JSON.stringify(await main()))
