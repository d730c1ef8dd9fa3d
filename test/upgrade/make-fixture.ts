import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { Client } from '../support/client.ts'
import { libraryToken, personalToken } from '../support/tokens.ts'
import { filePart, postForm, uploadLink } from '../support/transfer.ts'

// Makes a fixture of earlier-data with the server of a checkout: node test/upgrade/make-fixture.ts CHECKOUT NAME. The checkout needs its
// node_modules. What is stored is what earlier-data.test.ts looks for. What that version could not do yet is left out of the manifest.
// With CARREL_DATABASE, its content is stored as SQL: start with a new, empty PostgreSQL database.

const FIXTURES = path.join(import.meta.dirname, '../fixtures/earlier-data')
const SECRET = 'a secret for the fixture'
const PASSWORD = 'a long password'
const ADMIN = { email: 'admin@example.org', password: 'correct horse battery' }

const [checkout = assert.fail('name a checkout'), name = assert.fail('name the fixture')] =
  process.argv.slice(2)

async function startOld(data: string) {
  const main = ['src/main.mjs', 'src/main.ts'].find((file) => existsSync(path.join(checkout, file)))
  const child = spawn(process.execPath, [path.join(checkout, main ?? assert.fail('no program')), 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      CARREL_DATA: data,
      CARREL_PORT: '0',
      CARREL_SECRET: SECRET,
      CARREL_RATE_LIMIT: 'off',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
      ...(databaseUrl !== undefined && { CARREL_DATABASE: databaseUrl }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    // Early versions log text, too.
    const url = line.startsWith('{') ? (JSON.parse(line) as { url?: string }).url : undefined
    if (url !== undefined) return { url, child }
  }
  return assert.fail('the server ended before it was ready')
}

async function signIn(url: string, email: string, more = {}): Promise<Client> {
  const form = { username: email, password: email === ADMIN.email ? ADMIN.password : PASSWORD, ...more }
  const reply = await new Client(url).post('/api2/auth-token/', { form })
  assert.equal(reply.status, 200, reply.text)
  return new Client(url, reply.body.token, email)
}

function expectOk<R extends { status: number; text: string }>(reply: R): R {
  assert.ok(reply.status < 300, `${reply.status} ${reply.text}`)
  return reply
}

/** Undefined if the version has no such route. */
function ifKnown<R extends { status: number; text: string }>(reply: R): R | undefined {
  return reply.status === 404 || reply.status === 405 ? undefined : expectOk(reply)
}

async function fill(url: string): Promise<object> {
  const admin = await signIn(url, ADMIN.email)
  for (const email of ['ann@example.org', 'bob@example.org']) {
    expectOk(await admin.post('/api/v2.1/admin/users/', { form: { email, password: PASSWORD } }))
  }
  const ann = await signIn(url, 'ann@example.org')
  const bob = await signIn(url, 'bob@example.org')
  const device = await signIn(url, 'ann@example.org', {
    platform: 'linux',
    device_id: 'd'.repeat(40),
    device_name: 'laptop',
    client_version: '9.0.0',
    platform_version: '',
  })
  const library = await ann.createLibrary('Papers')
  expectOk(
    await ann.post(`/api/v2.1/repos/${library}/dir/`, {
      query: { p: '/docs' },
      form: { operation: 'mkdir' },
    }),
  )
  const send = async (folder: string, file: string, bytes: string | Buffer) =>
    expectOk(
      await postForm(
        await uploadLink(ann, library, folder),
        [['parent_dir', folder], ['replace', '1'], filePart(file, bytes)],
        {
          query: '?ret-json=1',
        },
      ),
    )
  await send('/', 'note.txt', 'first\n')
  await send('/', 'note.txt', 'second\n')
  await send('/docs', 'plan.md', '# Plan\n')
  // Too long for a row, so it is a block file, and compressible, so that the fixture stays small.
  await send('/docs', 'photo.bin', Buffer.alloc(80_000, 'photo'))
  const share = (p: string) =>
    ann.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p },
      form: { share_type: 'user', username: 'bob@example.org', permission: 'rw' },
    })
  const canShare = ifKnown(await share('/')) !== undefined
  if (canShare) expectOk(await share('/docs'))
  const query = { p: '/docs', name: 'docs' }
  const sub = canShare ? expectOk(await ann.get(`/api2/repos/${library}/dir/sub_repo/`, query)) : undefined
  const shareLink = ifKnown(
    await ann.post('/api/v2.1/share-links/', {
      form: { repo_id: library, path: '/', password: 'open sesame now' },
    }),
  )
  const upload = ifKnown(
    await ann.post('/api/v2.1/upload-links/', { form: { repo_id: library, path: '/docs' } }),
  )
  const sync = ifKnown(await device.get(`/api2/repos/${library}/download-info/`))
  const tag = ifKnown(
    await ann.post(`/api/v2.1/repos/${library}/repo-tags/`, {
      form: { name: 'Important', color: '#ff8000' },
    }),
  )
  if (tag !== undefined) {
    const { repo_tag_id } = tag.body.repo_tag
    const form = { file_path: '/docs/plan.md', repo_tag_id }
    expectOk(await ann.post(`/api/v2.1/repos/${library}/file-tags/`, { form }))
  }
  return {
    library,
    sub: sub?.body.sub_repo_id,
    tokens: {
      admin: admin.token,
      ann: ann.token,
      device: device.token,
      bob: bob.token,
      personal: await personalToken(ann, { permission: 'rw' }).then(
        ({ token }) => token,
        () => undefined,
      ),
      library: await libraryToken(ann, library).then(
        ({ token }) => token,
        () => undefined,
      ),
      sync: sync?.body.token,
    },
    link: shareLink?.body.token,
    uploadLink: upload?.body.token,
    tag: tag?.body.repo_tag.tag_name,
  }
}

/** Commands of psql are no SQL. */
function withoutCommands(dump: string): string {
  return dump.replaceAll(/^\\.*\n/gm, '')
}

const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-fixture-'))
const databaseUrl = process.env['CARREL_DATABASE']
const { url, child } = await startOld(data)
child.stdout.resume()
const exited = once(child, 'exit')
const manifest = await fill(url).finally(() => child.kill('SIGTERM'))
await exited
assert.ok(
  databaseUrl !== undefined || !existsSync(path.join(data, 'carrel.db-wal')),
  'the log is empty after an orderly stop',
)
const to = path.join(databaseUrl === undefined ? FIXTURES : `${FIXTURES}-postgres`, name)
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
writeFileSync(path.join(to, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
if (databaseUrl !== undefined) {
  const dump = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', databaseUrl])
  assert.equal(dump.status, 0, String(dump.stderr))
  writeFileSync(
    path.join(to, 'postgres.sql.gz'),
    gzipSync(withoutCommands(String(dump.stdout)), { level: 9 }),
  )
}
const stored = databaseUrl === undefined ? ['carrel.db'] : []
for (const file of [...stored, ...globSync(['blocks/store-id', 'blocks/??/*'], { cwd: data })]) {
  const target = path.join(to, `${file}.gz`)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, gzipSync(readFileSync(path.join(data, file)), { level: 9 }))
}
rmSync(data, { recursive: true })
