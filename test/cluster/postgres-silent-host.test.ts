import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { silence } from '../../src/platform/database/postgres/deadlines.ts'
import { waitLimits } from '../../src/platform/database/request-waits.ts'
import { Nodes } from '../support/nodes.ts'
import { PostgresUnavailable } from '../support/postgres.ts'
import { PostgresProxy, type ProtocolMessage } from '../support/postgres-proxy.ts'
import { ReplicatedPostgres } from '../support/replicated-postgres.ts'
import { eventually, filePart, intoRoot, namesIn, postForm, uploadLink } from '../support/transfer.ts'

/** Far below those of a server, and above what a busy machine needs. */
const REQUEST_MS = 6000
const SILENT_MS = 100
/** An answer comes this much later at most: a connection that is being opened, and the transaction that the work of a request ends with. */
const GRACE_MS = 10_000

/** The message of a change at which the host goes silent. */
const MESSAGES: Record<string, (message: ProtocolMessage) => boolean> = {
  begin: ({ from, type, body }) => from === 'client' && type === 'B' && body.includes('carrel_durably'),
  statement: ({ from, type, body }) =>
    from === 'client' &&
    type === 'B' &&
    !/carrel_(?:begin|commit|durably|in_haste|limit|end)/.test(body.toString('latin1')),
  'commit request': ({ from, type, body }) =>
    from === 'client' && type === 'B' && body.includes('carrel_commit'),
  'commit response': ({ from, type, body }) => from === 'server' && type === 'C' && body.includes('COMMIT'),
}

describe('a host of PostgreSQL that goes silent, beside a standby', () => {
  const usual = { requestMs: waitLimits.requestMs, silentMs: silence.ms }
  before(() => {
    waitLimits.requestMs = REQUEST_MS
    silence.ms = SILENT_MS
  })
  after(() => {
    waitLimits.requestMs = usual.requestMs
    silence.ms = usual.silentMs
  })

  for (const [name, isWanted] of Object.entries(MESSAGES)) {
    it(`at a ${name}: requests are answered in time, and nothing acknowledged is lost`, {
      timeout: 180_000,
    }, async (t) => {
      await using stack = new AsyncDisposableStack()
      const postgres = await findReplicated()
      if (typeof postgres === 'string') return t.skip(postgres)
      stack.use(postgres)
      const [primary, standby] = [
        stack.use(await PostgresProxy.start(postgres.primaryUrl)),
        stack.use(await PostgresProxy.start(postgres.standbyUrl)),
      ]
      const server = await startBehind(stack, [standby, primary])
      const user = await server.signUp()
      const library = await user.createLibrary('Silent')
      const link = await uploadLink(user, library)
      const statuses = new Map<string, number>()
      const state = { isOver: false }
      let slowestMs = 0
      const write = async (writer: number) => {
        for (let number = 0; !state.isOver; number++) {
          const began = performance.now()
          const file = `${writer}-${number}.txt`
          const { status, text } = await postForm(link, [intoRoot, filePart(file)])
          slowestMs = Math.max(slowestMs, performance.now() - began)
          assert.ok([200, 503, 504].includes(status), `${status} ${text}`)
          statuses.set(file, status)
        }
      }
      const acknowledged = () => [...statuses].filter(([, status]) => status === 200).map(([file]) => file)
      const writing = Promise.all([1, 2, 3].map(write))
      await eventually(async () => assert.ok(acknowledged().length >= 10))
      const silenced = new Promise<void>((resolve) => {
        primary.judge = (message) => {
          if (!isWanted(message)) return 'forward'
          primary.judge = () => 'silence-before'
          primary.silence()
          resolve()
          return 'silence-before'
        }
      })
      await silenced
      // Some requests meet two hosts of which none accepts writes.
      const answered = statuses.size
      await eventually(async () => assert.ok(statuses.size > answered))
      await postgres.promote()
      const count = acknowledged().length
      await eventually(async () => assert.ok(acknowledged().length >= count + 10))
      state.isOver = true
      await writing
      assert.ok(slowestMs < REQUEST_MS + GRACE_MS, `a request took ${slowestMs} ms`)
      const names = await namesIn(user, library)
      assert.equal(new Set(names).size, names.length)
      const found = new Set(names)
      assert.deepEqual(
        acknowledged().filter((file) => !found.has(file)),
        [],
      )
      // 503 says that nothing has changed.
      assert.deepEqual(
        names.filter((file) => ![200, 504].includes(statuses.get(file) ?? 0)),
        [],
      )
    })
  }
})

async function findReplicated(): Promise<ReplicatedPostgres | string> {
  try {
    return await ReplicatedPostgres.create()
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return error.message
  }
}

/** A node whose database has these hosts. */
async function startBehind(stack: AsyncDisposableStack, [first, second]: [PostgresProxy, PostgresProxy]) {
  const url = first.url.replace(/(?=.postgres$)/, `,${new URL(second.url).host}`)
  const nodes = stack.use(
    await Nodes.create({
      adminUrl: url,
      createDatabase: async () => url,
      createWithSchema: async () => url,
      copyDatabase: async () => url,
      [Symbol.asyncDispose]: async () => {},
    }),
  )
  return nodes.start()
}
