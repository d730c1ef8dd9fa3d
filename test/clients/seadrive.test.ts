import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { inflateSync } from 'node:zlib'
import { importSeafile, temporaryFolder } from '../import/support.ts'
import { checkServer } from '../support/check.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { SEAFILE_DUMP, unpackSeafile } from '../support/seafile-fixture.ts'
import { startServer } from '../support/server.ts'
import { namesIn } from '../support/transfer.ts'

const SESSION = path.join(import.meta.dirname, '../fixtures/seadrive-3/session.jsonl')
const DOCS = '1305236f-68b0-4f19-a868-363a08977e8f'
const PLANS = 'e21e987c-9890-4eac-8f4f-93591fc47900'

/** One request of the client, with the fields of the answer that it reads. */
interface Recorded {
  readonly request: string
  /** Names of tokens are in braces. */
  readonly headers: Readonly<Record<string, string>>
  readonly text?: string
  /** In base64. */
  readonly bytes?: string
  readonly status: number
  readonly answer?: unknown
}

describe('SeaDrive', () => {
  it('mounts, reads and writes own and shared libraries', async () => {
    await using source = await temporaryFolder()
    await unpackSeafile(source.path)
    await using server = await startServer()
    const imported = await importSeafile(server, source.path, '--sql', SEAFILE_DUMP)
    assert.equal(imported.code, 0, imported.stderr)
    const bob = await Client.signIn(server.url, 'bob@example.org', 'bob secret')
    const tokens = new Map([['{api token}', bob.token ?? '']])
    const lines = (await readFile(SESSION, 'utf8')).trim().split('\n')
    for (const line of lines) await replay(server.url, JSON.parse(line), tokens)

    assert.equal(String(await download(bob, DOCS, '/a.txt')), 'two\nappended\n')
    assert.deepEqual((await namesIn(bob, DOCS)).toSorted(), [
      'a.txt',
      'empty/',
      'large.bin',
      'plans/',
      'renamed.txt',
      'zero.txt',
    ])
    assert.equal(String(await download(bob, PLANS, '/new/inside.txt')), 'inside\n')
    assert.deepEqual((await namesIn(bob, DOCS, '/plans')).toSorted(), [
      '2026/',
      'Plan of 2026.md',
      'from bob.txt',
      'new/',
    ])
    assert.deepEqual((await checkServer(server)).findings, [])
  })
})

/** Sends a request as the client did, and compares what it reads of the answer. */
async function replay(url: string, recorded: Recorded, tokens: Map<string, string>): Promise<void> {
  const { request, text, bytes, status, answer } = recorded
  const [method = '', target = ''] = request.split(' ', 2)
  const named = (value: string) =>
    value.replace(/\{(?:api token|token of [^}]+)\}/g, (name) => {
      return tokens.get(name) ?? assert.fail(`${request} uses ${name} before it was given`)
    })
  const headers = Object.entries(recorded.headers).map(([name, value]): [string, string] => [
    name,
    named(value),
  ])
  const body = bytes === undefined ? text && named(text) : Buffer.from(bytes, 'base64')
  const response = await fetch(url + target, { method, headers, ...(body !== undefined && { body }) })
  const sent = Buffer.from(await response.arrayBuffer())
  assert.equal(response.status, status, `${request}: ${sent.toString('utf8')}`)
  const [, library = ''] = /\/repos\/([^/]+)\/download-info/.exec(target) ?? []
  if (library !== '') tokens.set(`{token of ${library}}`, JSON.parse(String(sent)).token)
  if (answer !== undefined) assertIncludes(JSON.parse(String(sent)), answer, request)
  if (target.includes('/jwt-token'))
    assert.match(JSON.parse(String(sent)).jwt_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  if (target.includes('/pack-fs/'))
    assert.deepEqual(idsOf(sent).toSorted(), JSON.parse(text ?? '').toSorted())
  const [, block] = method === 'GET' ? (/\/block\/(\w+)/.exec(target) ?? []) : []
  if (block !== undefined) assert.equal(hash('sha1', sent), block)
}

/** The ids of packed objects: each is 40 characters, the length in 4 bytes, and the compressed object. */
function idsOf(packets: Buffer): string[] {
  const ids: string[] = []
  for (let at = 0; at < packets.length; ) {
    const end = at + 44 + packets.readUInt32BE(at + 40)
    const id = packets.toString('latin1', at, at + 40)
    assert.equal(hash('sha1', inflateSync(packets.subarray(at + 44, end))), id)
    ids.push(id)
    at = end
  }
  return ids
}

/** Asserts that a JSON value has everything that another one has. Items are found by their ids, in any order. */
function assertIncludes(actual: unknown, expected: unknown, where: string): void {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), where)
    if (expected.every((item) => typeof item === 'string')) {
      assert.deepEqual(actual.map(String).toSorted(), expected.map(String).toSorted(), where)
      return
    }
    for (const item of expected) {
      const same = (one: Record<string, unknown>) =>
        ['id', 'repo_id', 'type'].every((name) => one[name] === item[name])
      assertIncludes(actual.find(same), item, where)
    }
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${where}: ${JSON.stringify(expected)}`)
    for (const [name, value] of Object.entries(expected)) {
      assertIncludes((actual as Record<string, unknown>)[name], value, `${where}: ${name}`)
    }
  } else assert.equal(actual, expected, where)
}
