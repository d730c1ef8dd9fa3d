import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
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
// node_modules. What is stored is what earlier-data.test.ts looks for.

const FIXTURES = path.join(import.meta.dirname, '../fixtures/earlier-data')
const SECRET = 'a secret for the fixture'
const PASSWORD = 'a long password'
const ADMIN = { email: 'admin@example.org', password: 'correct horse battery' }

const [checkout = assert.fail('name a checkout'), name = assert.fail('name the fixture')] =
  process.argv.slice(2)

async function startOld(data: string) {
  const child = spawn(process.execPath, [path.join(checkout, 'src/main.mjs'), 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      CARREL_DATA: data,
      CARREL_PORT: '0',
      CARREL_SECRET: SECRET,
      CARREL_RATE_LIMIT: 'off',
      CARREL_ADMIN_EMAIL: ADMIN.email,
      CARREL_ADMIN_PASSWORD: ADMIN.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url?: string }
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
  expectOk(await share('/'))
  expectOk(await share('/docs'))
  const query = { p: '/docs', name: 'docs' }
  const sub = expectOk(await ann.get(`/api2/repos/${library}/dir/sub_repo/`, query))
  const shareLink = expectOk(
    await ann.post('/api/v2.1/share-links/', {
      form: { repo_id: library, path: '/', password: 'open sesame now' },
    }),
  )
  const upload = expectOk(
    await ann.post('/api/v2.1/upload-links/', { form: { repo_id: library, path: '/docs' } }),
  )
  const sync = expectOk(await device.get(`/api2/repos/${library}/download-info/`))
  return {
    library,
    sub: sub.body.sub_repo_id,
    tokens: {
      admin: admin.token,
      ann: ann.token,
      device: device.token,
      bob: bob.token,
      personal: (await personalToken(ann, { permission: 'rw' })).token,
      library: (await libraryToken(ann, library)).token,
      sync: sync.body.token,
    },
    link: shareLink.body.token,
    uploadLink: upload.body.token,
  }
}

const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-fixture-'))
const { url, child } = await startOld(data)
child.stdout.resume()
const exited = once(child, 'exit')
const manifest = await fill(url).finally(() => child.kill('SIGTERM'))
await exited
assert.ok(!existsSync(path.join(data, 'carrel.db-wal')), 'the log is empty after an orderly stop')
const to = path.join(FIXTURES, name)
rmSync(to, { recursive: true, force: true })
mkdirSync(to, { recursive: true })
writeFileSync(path.join(to, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['carrel.db', ...globSync('blocks/??/*', { cwd: data })]) {
  const target = path.join(to, `${file}.gz`)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, gzipSync(readFileSync(path.join(data, file)), { level: 9 }))
}
rmSync(data, { recursive: true })
