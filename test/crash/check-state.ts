import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { check } from '../../src/maintenance/check/index.ts'
import { openDiskBlockStore } from '../../src/platform/storage/disk/index.ts'
import { sourcesOf } from '../support/check.ts'
import { Client } from '../support/client.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'
import { hashOf } from '../support/workload.ts'
import type { Expectation, ExpectedFiles } from './expectation.ts'

/** Starts a server on a data folder and compares it with what was acknowledged. Throws what is wrong. */
export async function checkState(
  data: string,
  env: Record<string, string>,
  expected: Expectation,
): Promise<void> {
  const { now } = expected
  {
    await using server = await startServer({ data, env, ...(now !== undefined && { now: () => now }) })
    await checkServer(server, expected)
    await checkContents(server)
  }
  checkDatabase(path.join(data, 'carrel.db'))
}

async function checkServer(server: TestServer, expected: Expectation): Promise<void> {
  const client =
    expected.token === undefined
      ? await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      : new Client(server.url, expected.token)
  assert.equal((await client.get('/readyz')).status, 200, 'is ready')
  for (const library of new Set(expected.writers.map((writer) => writer.library))) {
    const sync = await SyncClient.link(client, library)
    const found = new Map<string, string>()
    for (const [file, bytes] of await sync.clone())
      if (bytes !== null) found.set(file.slice(1), hashOf(bytes))
    checkFiles(
      found,
      expected.writers.filter((writer) => writer.library === library),
    )
  }
  for (const { library, name, allowed } of expected.partial) {
    const reply = await client.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, {
      parent_dir: '/',
      file_name: name,
    })
    assert.equal(reply.status, 200, reply.text)
    assert.ok(
      allowed.includes(reply.body.uploadedBytes),
      `${name}: ${reply.body.uploadedBytes} bytes of the upload are stored, not ${allowed.join(' or ')}`,
    )
  }
  const library = await client.createLibrary('After the power failure')
  for (const size of [100, 100_000]) {
    const bytes = Buffer.alloc(size, 'after')
    await uploadFile(client, library, `/after-${size}`, bytes)
    const { body } = await client.get(`/api2/repos/${library}/file/`, { p: `/after-${size}` })
    assert.ok(Buffer.from(await (await fetch(body)).arrayBuffer()).equals(bytes), 'new files can be read')
  }
}

/** What `carrel check --read-data` does. */
async function checkContents(server: TestServer): Promise<void> {
  const directory = path.join(server.data, 'blocks')
  await using blocks = await openDiskBlockStore({ directory, shared: true, implementation: 'plain' })
  const options = { readData: true, sample: 100, environment: '', signal: AbortSignal.timeout(600_000) }
  const { findings } = await check(sourcesOf(server, blocks), options)
  assert.deepEqual(findings, [], 'findings of carrel check')
}

function checkFiles(found: Map<string, string>, writers: readonly ExpectedFiles[]): void {
  for (const { prefix, files, unanswered } of writers) {
    const actual = Object.fromEntries([...found].filter(([name]) => name.startsWith(prefix)))
    for (const name of Object.keys(actual)) found.delete(name)
    const after = { ...files }
    for (const [name, hash] of Object.entries(unanswered ?? {})) {
      if (hash === null) delete after[name]
      else after[name] = hash
    }
    const isAfter =
      unanswered !== undefined &&
      Object.entries(unanswered).some(
        ([name, hash]) => (actual[name] ?? null) === hash && (files[name] ?? null) !== hash,
      )
    assert.deepEqual(sorted(actual), sorted(isAfter ? after : files), `files ${prefix}*`)
  }
  assert.deepEqual([...found.keys()], [], 'files that nobody sent')
}

function sorted(files: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))
}

function checkDatabase(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database.prepare('pragma integrity_check').all()
    assert.deepEqual(
      rows.map((row) => row['integrity_check']),
      ['ok'],
    )
  } finally {
    database.close()
  }
}
