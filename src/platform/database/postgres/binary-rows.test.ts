import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findPostgres, type PostgresServer } from '../../../../test/support/postgres.ts'
import { isDeep } from '../../../../test/support/tier.ts'
import type { Row } from '../database.ts'
import { Hosts } from './hosts.ts'
import { PostgresClient, type ResultFormat } from './postgres-client.ts'
import { openPostgres } from './postgres-database.ts'
import { Statement } from './statements.ts'
import { valueTypes } from './values.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false
const DEADLINE_MS = 30_000

describe('results with bytes', { skip }, () => {
  let postgres: PostgresServer
  let url: string
  before(async () => {
    postgres = found as PostgresServer
    url = await postgres.createDatabase()
  })
  after(() => postgres[Symbol.asyncDispose]())

  const connect = async (results: ResultFormat) => {
    const client = new PostgresClient({ hosts: new Hosts(url), types: valueTypes, results })
    await client.connect()
    return client
  }
  const run = async (client: PostgresClient, statement: Statement, ...values: Row[string][]) => {
    const { outcomes, error } = await client.runBatch([{ statement, values }], DEADLINE_MS)
    if (error instanceof Error) throw error
    return outcomes[0]?.rows ?? []
  }

  it('are the same rows in binary format and as text', async (t) => {
    const [binary, text] = await Promise.all([connect('binary'), connect('text')])
    const formats = new Set<string>()
    for (const [client, name] of [
      [binary, 'binary'],
      [text, 'text'],
    ] as const) {
      // What the driver requests of the server.
      const { connection } = client as unknown as { connection: { bind(config: { binary: boolean }): void } }
      const bind = connection.bind.bind(connection)
      t.mock.method(connection, 'bind', (config: { binary: boolean }) => {
        formats.add(`${name}: ${config.binary}`)
        bind(config)
      })
    }
    const columns =
      '$1::bytea as bytes, $2::bigint as number, $3::text as text, $4::bigint > 0 as flag, $5::int as small'
    const selects = [
      [`select ${columns}`, true],
      [`select ${columns} where $2::bigint is null`, true],
      [
        `select 'x' as first, null as nothing, exists (select 1) as some, count(*) as rows, q.* from (select ${columns}) q group by 5, 6, 7, 8, 9`,
        true,
      ],
      // Types that are read as text, and a result without bytes.
      [
        `select sum(number) as sum, 1.5::float8 as float, now() is null as past, q.bytes from (select ${columns}) q group by q.bytes`,
        false,
      ],
      [
        `select q.number, q.text, q.flag, q.small, length(q.bytes) as length from (select ${columns}) q`,
        false,
      ],
    ] as const
    const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })
    const integers = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -1, 2 ** 31, 2 ** 32, -(2 ** 32)))
    const rows = fc.tuple(
      nullable(fc.uint8Array({ maxLength: 300 })),
      nullable(integers),
      nullable(fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''))),
      nullable(integers),
      nullable(fc.integer()),
    )
    try {
      for (const [sql, isBinary] of selects) {
        const [inBinary, asText] = [new Statement(sql, sql), new Statement(sql, sql)]
        // Prepared, as statements that are run often are.
        for (const statement of [inBinary, asText]) statement.prepare('test')
        await run(binary, inBinary, null, null, null, null, null)
        assert.equal(inBinary.hasBinaryResult, isBinary, sql)
        formats.clear()
        await fc.assert(
          fc.asyncProperty(rows, async (values) => {
            assert.deepEqual(await run(binary, inBinary, ...values), await run(text, asText, ...values))
          }),
          { numRuns: isDeep ? 200 : 15 },
        )
        assert.deepEqual([...formats], [`binary: ${isBinary}`, 'text: false'])
      }
    } finally {
      await Promise.all([binary.end(), text.end()])
    }
  })

  it('are read whole if they come in many packets, between results of other formats', async () => {
    const client = await connect('binary')
    try {
      const large = Buffer.alloc(300_000, Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)))
      const bytes = new Statement('select $1::bytea as bytes, n from generate_series(1, 5) n')
      const number = new Statement(`select 'é' as text, 7 as number`)
      const nothing = new Statement(`set local application_name = 'x'`)
      const steps = [bytes, number, nothing, bytes, number].map((statement) => ({
        statement,
        values: statement === bytes ? [large] : [],
      }))
      for (let round = 0; round < 3; round++) {
        const { outcomes, error } = await client.runBatch(steps, DEADLINE_MS)
        assert.equal(error, undefined)
        const rows = [1, 2, 3, 4, 5].map((n) => ({ bytes: new Uint8Array(large), n }))
        const other = [{ text: 'é', number: 7 }]
        assert.deepEqual(
          outcomes.map((outcome) => outcome.rows),
          [rows, other, [], rows, other],
        )
      }
      assert.equal(bytes.hasBinaryResult, true)
    } finally {
      await client.end()
    }
  })

  it('refuse a number that does not fit, with the same message', async () => {
    const [binary, text] = await Promise.all([connect('binary'), connect('text')])
    try {
      const sql = `select '\\x00'::bytea as bytes, $1::bigint as number`
      for (const client of [binary, text]) {
        for (const number of ['9007199254740993', '-9223372036854775808']) {
          const statement = new Statement(sql, sql)
          await run(client, statement, 1)
          await assert.rejects(run(client, statement, number), {
            name: 'RangeError',
            message: `${number} does not fit a number without loss.`,
          })
        }
      }
    } finally {
      await Promise.all([binary.end(), text.end()])
    }
  })

  it('are read as text again once the type of a column has changed', async () => {
    await using db = await openPostgres({ url, onFatal: (error) => assert.fail(error) })
    await db.write(async (tx) => {
      await tx.run('create table typed (id bigint primary key, data bytea, size bigint)')
      await tx.insert('typed', ['id', 'data', 'size'], [[1, Uint8Array.of(0, 255), 5]])
    })
    const expected = { data: Uint8Array.of(0, 255), size: 5 }
    const read = () => db.write((tx) => tx.get('select data, size from typed where id = 1'))
    for (let round = 0; round < 6; round++) assert.deepEqual(await read(), expected)
    await db.write((tx) => tx.run('alter table typed alter column size type numeric'))
    // The statement that meets the new type may fail once.
    await read().catch(() => undefined)
    for (let round = 0; round < 6; round++) assert.deepEqual(await read(), expected)
  })
})
