import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createLogger } from '../../src/base/logging.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { interruption } from '../../src/platform/database/postgres/deadlines.ts'
import { batch, two } from '../api/batch-support.ts'
import { fetchArchive, startArchive } from '../support/archives.ts'
import { Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { PostgresProxy, type ProtocolMessage } from '../support/postgres-proxy.ts'
import { storeFile } from '../support/stored-files.ts'
import { eventually } from '../support/transfer.ts'
import { unzip } from '../support/zip-reader.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

/** When the database is cut off: before it receives a statement, or when it says that the transaction of that statement is committed. */
type Moment = 'before' | 'committed'

/** Cuts a node off from PostgreSQL at the n-th statement that matches, until it is mended. */
class Cut {
  readonly #proxy: PostgresProxy
  readonly #statements = new Map<string, string>()
  #pattern = /^$/
  #left = 0
  #moment: Moment = 'before'
  #state: 'waiting' | 'committing' | 'done' = 'done'

  constructor(proxy: PostgresProxy) {
    this.#proxy = proxy
    proxy.judge = (message) => this.#judge(message)
  }

  get hasHappened(): boolean {
    return this.#left === 0 && this.#state === 'done'
  }

  arm(pattern: RegExp, position: number, moment: Moment): void {
    this.#pattern = pattern
    this.#left = position
    this.#moment = moment
    this.#state = 'waiting'
  }

  mend(): void {
    this.#left = 0
    this.#state = 'done'
    this.#proxy.recover()
  }

  #judge({ from, type, body }: ProtocolMessage) {
    if (from === 'server') {
      if (this.#state !== 'committing' || type !== 'C' || !body.includes('COMMIT')) return 'forward'
      return this.#cut()
    }
    if (type === 'P') {
      const [name = '', text = ''] = body.toString('latin1').split('\0', 2)
      this.#statements.set(name, text)
    }
    if (type !== 'B' || this.#state !== 'waiting') return 'forward'
    const [, name = ''] = body.toString('latin1').split('\0', 2)
    if (!this.#pattern.test(this.#statements.get(name) ?? '')) return 'forward'
    this.#left -= 1
    if (this.#left > 0) return 'forward'
    if (this.#moment === 'before') return this.#cut()
    this.#state = 'committing'
    return 'forward'
  }

  #cut() {
    this.#state = 'done'
    // All other connections, too, and after this message.
    setImmediate(() => this.#proxy.refuse())
    return 'cut-before' as const
  }
}

describe('when the database does not answer', { skip }, () => {
  const usualMs = interruption.ms
  let postgres: PostgresServer
  before(() => {
    postgres = found as PostgresServer
    interruption.ms = 100
  })
  after(async () => {
    interruption.ms = usualMs
    await postgres[Symbol.asyncDispose]()
  })

  async function startNode(stack: AsyncDisposableStack) {
    const nodes = stack.use(await Nodes.create(postgres))
    const url = nodes.env['CARREL_DATABASE'] ?? ''
    const proxy = stack.use(await PostgresProxy.start(url))
    const direct = stack.use(
      await openDatabase({ kind: 'postgres', url }, { onFatal: (error) => assert.fail(error) }),
    )
    const log: string[] = []
    const destination = { write: (line: string) => log.push(line) }
    const logger = createLogger('warn', { pretty: false, destination })
    const node = await nodes.start({ env: { CARREL_DATABASE: proxy.url }, logger })
    return { node, cut: new Cut(proxy), direct, log }
  }

  /** The states in which nothing is done any more. */
  const ENDED = ['successful', 'failed', 'canceled', 'finished']

  interface Work {
    /** The statements at which it is cut off. */
    readonly pattern: RegExp
    /** What is logged when it was not carried out. */
    readonly failure: RegExp
    /** Starts it. The response may be lost. */
    start(number: number): Promise<void>
    /** The state of the last one. */
    state(): Promise<string | undefined>
    /** Checks what it has done. */
    verify(state: string | undefined, number: number): Promise<void>
  }

  /** Cuts work off at each of its statements, and expects it to be carried out once afterwards. Resolves to the number of statements. */
  async function atEachStatement(
    { node, cut, log }: Awaited<ReturnType<typeof startNode>>,
    work: Work,
  ): Promise<number> {
    for (let number = 0; ; number += 1) {
      const position = Math.floor(number / 2) + 1
      const moment = number % 2 === 0 ? 'before' : 'committed'
      const what = `statement ${position}, ${moment}`
      log.length = 0
      cut.arm(work.pattern, position, moment)
      await work.start(number)
      await eventually(async () => {
        if (cut.hasHappened) assert.match(log.join(''), work.failure, what)
        else assert.ok(ENDED.includes((await work.state()) ?? ''), what)
      })
      const wasCut = cut.hasHappened
      cut.mend()
      await eventually(async () => {
        await node.running.services.node.beat()
        assert.ok(ENDED.includes((await work.state()) ?? ''), `${what}: ${await work.state()}`)
      })
      await work.verify(await work.state(), number)
      if (!wasCut) return position - 1
    }
  }

  for (const operation of ['copy', 'move'] as const) {
    it(`a ${operation} between libraries is carried out once when it does again`, {
      timeout: 300_000,
    }, async () => {
      await using stack = new AsyncDisposableStack()
      const started = await startNode(stack)
      const [here, there] = await two(started.node)
      const statements = await atEachStatement(started, {
        pattern: /^update copy_move_task/i,
        failure: /copy or move/,
        async start(number) {
          await here.file(`/${number}`)
          const path = `/api/v2.1/repos/async-batch-${operation}-item/`
          await here.client.post(path, { json: batch(here, [String(number)], there, '/in') })
        },
        async state() {
          const sql = 'select state from copy_move_task order by key desc limit 1'
          return (await started.direct.get<{ state: string }>(sql))?.state
        },
        async verify(state, number) {
          assert.equal(state, 'successful')
          const arrived = (await there.names('/in')).filter((name) => name.split(' ')[0] === String(number))
          assert.deepEqual(arrived, [String(number)])
          assert.equal((await here.names()).includes(String(number)), operation === 'copy')
        },
      })
      // Claimed, begun, advanced, copied, and for a move removed.
      assert.equal(statements, operation === 'copy' ? 4 : 5)
    })
  }

  it('an archive is packed when it does again', { timeout: 300_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const started = await startNode(stack)
    const { node } = started
    const client = await node.signUp()
    const library = await client.createLibrary()
    const content = randomBytes(100_000)
    await storeFile(node, client, library, '/a.bin', content)
    let token = ''
    const statements = await atEachStatement(started, {
      pattern: /^update archive set (?:claim|state = 'finished')/i,
      failure: /an archive/,
      async start() {
        token = await startArchive(client, library, '/', ['a.bin'])
      },
      async state() {
        const sql = 'select state from archive order by key desc limit 1'
        return (await started.direct.get<{ state: string }>(sql))?.state
      },
      async verify(state) {
        assert.equal(state, 'finished')
        const response = await fetchArchive(node, token)
        assert.equal(response.status, 200)
        const bytes = Buffer.from(await response.arrayBuffer())
        assert.deepEqual(unzip(bytes), new Map([['a.bin', content]]))
      },
    })
    assert.equal(statements, 2)
  })
})
