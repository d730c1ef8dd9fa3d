import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrelProcess, type Serving, serve } from '../support/command.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import { ADMIN } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'

const FIRST = 'the first part, '
const SECOND = 'the second part'
const settings = {
  CARREL_ADMIN_EMAIL: ADMIN.email,
  CARREL_ADMIN_PASSWORD: ADMIN.password,
  CARREL_RATE_LIMIT: 'off',
}

function sendChunk(link: string, bytes: string, start: number) {
  const total = FIRST.length + SECOND.length
  const headers = {
    'Content-Range': `bytes ${start}-${start + bytes.length - 1}/${total}`,
    'Content-Disposition': 'attachment; filename=a.bin',
  }
  return postForm(link, [['parent_dir', '/'], { filename: 'a.bin', bytes }], {
    headers,
    query: '?ret-json=1',
  })
}

/** Every file below a folder with its content, without the files of databases. */
function filesIn(data: string): Record<string, string> {
  const names = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.db/.test(entry.name) && entry.name !== 'server.lock')
    .map((entry) => path.relative(data, path.join(entry.parentPath, entry.name)))
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(data, name), 'latin1')]))
}

/** The first server has a chunk, a block and an archive in progress when the second one starts. */
async function expectRefused(first: Serving, data: string, env: Record<string, string>): Promise<void> {
  const client = await Client.signIn(first.url, ADMIN.email, ADMIN.password)
  const library = await client.createLibrary('In use')
  const link = await uploadLink(client, library)
  assert.equal((await sendChunk(link, FIRST, 0)).status, 200)
  mkdirSync(path.join(data, 'archives'), { recursive: true })
  writeFileSync(path.join(data, 'archives', 'being-packed.zip'), 'packed so far')
  writeFileSync(path.join(data, 'blocks', 'tmp', 'incoming'), 'a block that arrives')
  const before = filesIn(data)

  const second = await carrelProcess(['serve', '--data', data, '--port', new URL(first.url).port, '--json'], {
    env,
  })
  assert.deepEqual(filesIn(data), before)
  assert.equal(second.code, 3, second.stderr)
  assert.match(
    second.stderr,
    /^The data folder \S+ is in use by the server with process id \d+ on .+: stop it, or/,
  )
  assert.ok(
    second.stderr.includes(`process id ${first.child.pid} on ${os.hostname()} at ${first.url}:`),
    second.stderr,
  )

  const ended = await sendChunk(link, SECOND, FIRST.length)
  assert.equal(ended.status, 200, ended.text)
  const file = await client.get(`/api2/repos/${library}/file/`, { p: '/a.bin' })
  assert.equal(await (await fetch(file.body)).text(), FIRST + SECOND)
}

describe('two servers on one data folder', { timeout: 120_000 }, () => {
  let folder = ''
  let count = 0
  let postgres: PostgresServer | string
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-lock-'))
    postgres = await findPostgres()
  })
  after(async () => {
    await rm(folder, { recursive: true })
    if (typeof postgres !== 'string') await postgres[Symbol.asyncDispose]()
  })
  const newData = () => path.join(folder, `data-${++count}`)

  it('the second one is refused and touches nothing, on SQLite', async () => {
    const data = newData()
    await using first = await serve(['--data', data], { env: settings })
    await expectRefused(first, data, settings)
    assert.equal((await first.stop()).code, 0)
  })

  it('the second one is refused and touches nothing, on PostgreSQL', async (t) => {
    if (typeof postgres === 'string') return t.skip(postgres)
    const env = { ...settings, CARREL_DATABASE: await postgres.createDatabase() }
    const data = newData()
    await using first = await serve(['--data', data], { env })
    await expectRefused(first, data, env)
    // Another folder on another database is another server.
    await using other = await serve(['--data', newData()], { env: settings })
    assert.notEqual(other.url, first.url)
  })

  it('a killed server leaves no lock, and commands work beside a running one', async () => {
    const data = newData()
    {
      await using killed = await serve(['--data', data], { env: settings })
      await killed.stop('SIGKILL')
    }
    assert.ok(readdirSync(data).includes('server.json'), 'what a killed server leaves')
    await using next = await serve(['--data', data], { env: settings })
    for (const command of [['user', 'list'], ['usage'], ['reindex', 'paths'], ['doctor']]) {
      const { code, stderr } = await carrelProcess([...command, '--data', data], { env: settings })
      assert.equal(code, 0, `${command.join(' ')}: ${stderr}`)
    }
    assert.equal((await next.stop()).code, 0)
    assert.ok(!readdirSync(data).includes('server.json'))
  })
})
