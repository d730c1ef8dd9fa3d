import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findProgram } from '../../bin/system-programs.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { SeafileServer } from '../support/seafile-layout.ts'
import { startServer } from '../support/server.ts'
import { importSeafile, temporaryFolder } from './support.ts'

const run = promisify(execFile)
const START_MS = 60_000

it('an import from Seafile reads the databases of a running MariaDB server', async (t) => {
  if (findProgram('mariadbd') === undefined) return t.skip('mariadbd is not installed')
  await using folder = await temporaryFolder()
  const source = new SeafileServer(folder.path)
  const [ann, name] = ['ann@example.org', "Ann “Quote” O’Hara \\ 'x'; 😀"]
  source.addUser(ann, { isStaff: true, password: 'ann’s password', nickname: name })
  const docs = await source.addLibrary({ name: 'Docs', owner: ann })
  await docs.commit({ 'a.txt': 'one' }, 'Added "a.txt".')

  await using mariadb = await startMariadb()
  for (const database of ['ccnet_db', 'seafile_db', 'my-hub'])
    await mariadb.sql(`create database \`${database}\``)
  for (const [table, rows] of source.tables) {
    const columns = Object.keys(rows[0] ?? {})
    const values = rows.map((row) => `(${columns.map((column) => literalOf(row[column] ?? null)).join()})`)
    await mariadb.sql(
      `create table \`${databaseOf(table)}\`.\`${table}\` (${columns.map((column) => `\`${column}\` text`).join()}) charset utf8mb4;
      insert into \`${databaseOf(table)}\`.\`${table}\` values ${values.join()}`,
    )
  }
  await mariadb.sql("create user sea@'%' identified by 'p@ss:/w'; grant select, show view on *.* to sea@'%'")

  await using server = await startServer()
  const importFrom = (user: string) =>
    importSeafile(
      server,
      folder.path,
      '--mysql',
      `mysql://${user}@127.0.0.1:${mariadb.port}/ccnet_db,seafile_db,my-hub`,
    )
  const refused = await importFrom('sea:wrong')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^The databases of 127\.0\.0\.1:\d+ cannot be read: .*Access denied/s)
  assert.doesNotMatch(refused.stderr, /wrong/)

  const done = await importFrom(`sea:${encodeURIComponent('p@ss:/w')}`)
  assert.equal(done.code, 0, done.stderr + done.stdout)
  const report = JSON.parse(done.stdout)
  assert.deepEqual([report.accounts, report.libraries.length, report.problems], [1, 1, []])
  const client = await Client.signIn(server.url, ann, 'ann’s password')
  assert.equal((await client.get('/api2/account/info/')).body.name, name)
  assert.equal(String(await download(client, docs.id, '/a.txt')), 'one')

  for (const url of ['postgres://h/x', 'mysql://', 'mysql://h/a,,b', 'mysql://h/--all-databases', 'x']) {
    const { code, stderr } = await importSeafile(server, folder.path, '--mysql', url)
    assert.equal(code, 1, url)
    assert.match(stderr, /^(Name|Separate) the (databases|names)/)
  }
})

function databaseOf(table: string): string {
  if (/^(EmailUser|Group|GroupUser)$/.test(table)) return 'ccnet_db'
  return table.includes('_') ? 'my-hub' : 'seafile_db'
}

function literalOf(value: string | number | null): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  return value === '' ? "''" : `_utf8mb4 0x${Buffer.from(value).toString('hex')}`
}

/** A MariaDB server on a free port with its data in a temporary folder. */
async function startMariadb() {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-mariadb-'))
  const common = ['--no-defaults', `--datadir=${data}`, ...(process.getuid?.() === 0 ? ['--user=root'] : [])]
  await run('mariadb-install-db', [...common, '--auth-root-authentication-method=normal', '--skip-test-db'])
  const port = await freePort()
  const socket = path.join(data, 's')
  const child = spawn(
    findProgram('mariadbd') ?? 'mariadbd',
    [...common, `--port=${port}`, `--socket=${socket}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
    { stdio: 'ignore' },
  )
  const closed = once(child, 'close')
  const sql = (text: string) =>
    run('mariadb', [
      '--no-defaults',
      `--socket=${socket}`,
      '--user=root',
      '--default-character-set=utf8mb4',
      '-e',
      text,
    ])
  for (const end = Date.now() + START_MS; ; ) {
    try {
      await sql('select 1')
      break
    } catch (error) {
      if (Date.now() > end || child.exitCode !== null) throw error
      await setTimeout(100)
    }
  }
  return {
    port,
    sql,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
      await rm(data, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
