import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { checkPassword } from '../../src/libraries/content/encryption.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

const NOW = 1_754_000_000
const magic = 'a1'.repeat(32)
const random_key = 'b2'.repeat(48)
const salt = 'c3'.repeat(32)
const MISSING = 'You must provide magic, random_key and enc_version.'
const RELAY = {
  relay_id: '44e8f253849ad910dc142247227c8ece8ec0f971',
  relay_addr: '127.0.0.1',
  relay_port: 80,
}

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer({ now: () => NOW })
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const countOf = async (client: Client): Promise<number> => (await client.get('/api2/repos/')).body.length

/** Fields of every response to a creation, besides ids, the name and the encryption. */
const created = () => ({
  email: ann.email,
  repo_size: 0,
  repo_size_formatted: '0\u00a0bytes',
  repo_version: 1,
  mtime: NOW,
  mtime_relative:
    '<time datetime="2025-07-31T22:13:20" is="relative-time" title="Thu, 31 Jul 2025 22:13:20 +0000" >Just now</time>',
  last_modified: '2025-07-31T22:13:20+00:00',
  permission: 'rw',
  ...RELAY,
})
const plain = {
  encrypted: '',
  enc_version: 0,
  salt: '',
  magic: '',
  random_key: '',
  pwd_hash: '',
  pwd_hash_algo: '',
  pwd_hash_params: '',
}

describe('POST /api2/repos/', () => {
  for (const encoding of ['form', 'multipart', 'json'] as const) {
    it(`creates an unencrypted library with a sync token (${encoding})`, async () => {
      const sent = { name: `By ${encoding}`, desc: 'What it is', passwd: '' }
      const reply = await ann.post('/api2/repos/', { [encoding]: sent })
      assert.equal(reply.status, 200)
      const { repo_id, token, head_commit_id, ...rest } = reply.body
      assert.match(repo_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      assert.match(token, /^[0-9a-f]{40}$/)
      assert.match(head_commit_id, /^[0-9a-f]{40}$/)
      assert.deepEqual(rest, { ...created(), ...plain, repo_name: sent.name, repo_desc: sent.desc })
      const grant = await server.running.services.syncTokens.authenticate(token)
      assert.ok(grant)
      const history = await ann.get(`/api/v2.1/repos/${repo_id}/history/`)
      assert.deepEqual(
        history.body.data.map(({ description }: { description: string }) => description),
        ['Created library'],
      )
      const detail = await ann.get(`/api2/repos/${repo_id}/`)
      assert.equal(detail.body.head_commit_id, head_commit_id)
    })
  }

  const origins: [where: string, options: object, token: RegExp][] = [
    ['nowhere', { form: { name: 'x' } }, /^[0-9a-f]{40}$/],
    ['the query', { query: { from: 'web' }, form: { name: 'x' } }, /^$/],
    ['the form', { form: { name: 'x', from: 'web' } }, /^$/],
    ['JSON', { json: { name: 'x', from: 'web' } }, /^$/],
    ['another origin', { form: { name: 'x', from: 'desktop' } }, /^[0-9a-f]{40}$/],
  ]
  for (const [where, options, token] of origins) {
    it(`returns ${token.source === '^$' ? 'no' : 'a'} sync token with \`from\` in ${where}`, async () => {
      const reply = await ann.post('/api2/repos', options)
      assert.equal(reply.status, 200)
      assert.match(reply.body.token, token)
    })
  }

  it('creates a library encrypted with a password, as version 2', async () => {
    const reply = await ann.post('/api2/repos/', { form: { name: 'Secret', passwd: 'pässword & more' } })
    const { repo_id, magic, random_key, encrypted, enc_version, salt } = reply.body
    assert.deepEqual([reply.status, encrypted, enc_version, salt], [200, 1, 2, ''])
    assert.match(random_key, /^[0-9a-f]{96}$/)
    const empty = { pwdHash: '', pwdHashAlgo: '', pwdHashParams: '', salt: '', randomKey: random_key }
    const encryption = { version: 2, magic, ...empty }
    assert.equal(await checkPassword(repo_id as LibraryId, encryption, 'pässword & more'), true)
    const detail = await ann.get(`/api2/repos/${repo_id}/`)
    const { body } = detail
    assert.deepEqual(
      [body.encrypted, body.enc_version, body.magic, body.random_key, body.salt],
      [true, 2, magic, random_key, ''],
    )
    const item = (await ann.get('/api2/repos/')).body.find(({ id }: { id: string }) => id === repo_id)
    assert.deepEqual([item.encrypted, item.salt], [true, ''])
    const newer = await ann.get(`/api/v2.1/repos/${repo_id}/`)
    assert.deepEqual([newer.body.encrypted, newer.body.lib_need_decrypt], [true, true])
  })

  const versions: [sent: string | number | undefined, made: number, salt: string][] = [
    [undefined, 2, ''],
    ['', 2, ''],
    ['0', 2, ''],
    ['1', 2, ''],
    ['2', 2, ''],
    [2, 2, ''],
    ['3', 3, salt],
    ['4', 4, salt],
    [4, 4, salt],
  ]
  for (const [sent, made, kept] of versions) {
    it(`creates version ${made} for enc_version ${JSON.stringify(sent)}`, async () => {
      const repo_id = randomUUID()
      const json = { name: 'Mine', repo_id, enc_version: sent, magic, random_key, salt, passwd: 'ignored' }
      const reply = await ann.post('/api2/repos/', { json })
      assert.equal(reply.status, 200, reply.text)
      const { token, head_commit_id, ...rest } = reply.body
      assert.match(token, /^[0-9a-f]{40}$/)
      assert.match(head_commit_id, /^[0-9a-f]{40}$/)
      const encryption = { ...plain, encrypted: 1, enc_version: made, salt: kept, magic, random_key }
      assert.deepEqual(rest, { ...created(), ...encryption, repo_id, repo_name: 'Mine', repo_desc: '' })
      const detail = await ann.get(`/api2/repos/${repo_id}/`)
      assert.deepEqual(
        [detail.body.enc_version, detail.body.salt, detail.body.magic, detail.body.random_key],
        [made, kept, magic, random_key],
      )
    })
  }

  for (const [pwd_hash_algo, pwd_hash_params] of [
    ['pbkdf2_sha256', '1000'],
    ['argon2id', '2,102400,8'],
  ] as const) {
    it(`accepts ${pwd_hash_algo} in place of magic`, async () => {
      const hash = { pwd_hash: 'd4'.repeat(32), pwd_hash_algo, pwd_hash_params }
      const form = { name: 'Newer', repo_id: randomUUID(), enc_version: 4, random_key, salt, ...hash }
      const reply = await ann.post('/api2/repos/', { form })
      assert.equal(reply.status, 200, reply.text)
      const { pwd_hash, pwd_hash_algo: algo, pwd_hash_params: params, magic } = reply.body
      assert.deepEqual([pwd_hash, algo, params, magic], [hash.pwd_hash, pwd_hash_algo, pwd_hash_params, ''])
    })
  }

  const enc = { name: 'Mine', repo_id: 'a6e1ea1c-7f0d-4c5e-8b77-2c8f1c1d9f00', magic, random_key }
  const hashed = { ...enc, pwd_hash: 'd4'.repeat(32), pwd_hash_algo: 'argon2id' }
  const refused: [sent: Record<string, unknown>, words: string][] = [
    [{}, 'Library name is required.'],
    [{ name: '' }, 'Library name is required.'],
    [{ name: null }, 'Library name is required.'],
    [{ name: { a: 1 } }, 'Library name is required.'],
    [{ name: '.' }, 'name invalid.'],
    [{ name: '..' }, 'name invalid.'],
    [{ name: 'a/b' }, 'name invalid.'],
    [{ name: 'a\\b' }, 'name invalid.'],
    [{ name: 'a\u0000b' }, 'name invalid.'],
    [{ name: 'a\tb' }, 'name invalid.'],
    [{ name: '\ud800' }, 'name invalid.'],
    [{ name: 'x'.repeat(256) }, 'name invalid.'],
    [{ name: 'x', desc: 'a\u0000b' }, 'desc invalid.'],
    [{ name: 'x', desc: '\udfff' }, 'desc invalid.'],
    [{ name: 'x', passwd: ['a', { b: 1 }] }, 'passwd invalid.'],
    [{ name: 'x', passwd: { a: 1 } }, 'passwd invalid.'],
    [{ ...enc, repo_id: 'x' }, 'Repo id must be a valid uuid'],
    [{ ...enc, repo_id: { a: 1 } }, 'Repo id must be a valid uuid'],
    [{ ...enc, repo_id: enc.repo_id.toUpperCase() }, 'Repo id must be a valid uuid'],
    [{ ...enc, repo_id: '-'.repeat(36) }, 'Repo id must be a valid uuid'],
    [{ ...enc, enc_version: '5' }, 'Invalid enc_version param.'],
    [{ ...enc, enc_version: '-1' }, 'Invalid enc_version param.'],
    [{ ...enc, enc_version: '2.5' }, 'Invalid enc_version param.'],
    [{ ...enc, enc_version: 'two' }, 'Invalid enc_version param.'],
    [{ ...enc, enc_version: '99999999999999999999' }, 'Invalid enc_version param.'],
    [{ ...enc, enc_version: 3 }, 'salt invalid.'],
    [{ ...enc, enc_version: 4, salt: salt.slice(2) }, 'salt invalid.'],
    [{ ...enc, enc_version: 3, salt: 'x'.repeat(64) }, 'salt invalid.'],
    [{ ...enc, magic: undefined }, MISSING],
    [{ ...enc, magic: magic.slice(1) }, MISSING],
    [{ ...enc, magic: `${magic}0` }, MISSING],
    [{ ...enc, magic: 'x'.repeat(64) }, MISSING],
    [{ ...enc, random_key: undefined }, MISSING],
    [{ ...enc, random_key: magic }, MISSING],
    [{ ...enc, random_key: 'x'.repeat(96) }, MISSING],
    [{ ...hashed, random_key: '' }, MISSING],
    [{ ...hashed, pwd_hash: 'd4' }, 'pwd_hash invalid.'],
    [{ ...hashed, pwd_hash_algo: 'md5' }, 'pwd_hash_algo invalid.'],
    [{ ...hashed, pwd_hash_algo: '' }, 'pwd_hash_algo invalid.'],
    [{ ...hashed, pwd_hash_params: '2,99999999,8' }, 'pwd_hash_params invalid.'],
  ]
  for (const [json, words] of refused) {
    it(`rejects ${JSON.stringify(json).slice(0, 70)} with "${words}"`, async () => {
      const before = await countOf(ann)
      const reply = await ann.post('/api2/repos/', { json })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: words }])
      assert.equal(await countOf(ann), before)
    })
  }

  it('creates one library per id for concurrent calls, and none if the id is taken or deleted', async () => {
    const bob = await server.signUp()
    const form = { ...enc, repo_id: randomUUID() }
    const replies = await Promise.all([
      ann.post('/api2/repos/', { form }),
      bob.post('/api2/repos/', { form }),
    ])
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    assert.equal(replies.filter(({ status }) => status === 400).length, 1)
    const owner = replies[0].status === 200 ? ann : bob
    await owner.delete(`/api2/repos/${form.repo_id}/`)
    const late = await ann.post('/api2/repos/', { form })
    assert.deepEqual([late.status, late.body], [400, { error_msg: 'Repo already exists' }])
  })

  it('is closed to a role that may not add libraries, whatever it sends', async () => {
    const guest = await server.signUp({ role: 'guest' })
    for (const form of [{}, { name: 'Mine' }]) {
      const reply = await guest.post('/api2/repos/', { form })
      const words = { error_msg: 'You do not have permission to create library.' }
      assert.deepEqual([reply.status, reply.body], [403, words])
    }
  })

  it('accepts spaces, emoji, inner dots and 255 bytes in names, and normalizes them to NFC', async () => {
    for (const [name, kept] of [
      [' a ', ' a '],
      ['a..b', 'a..b'],
      ['🎉', '🎉'],
      ['x'.repeat(255), 'x'.repeat(255)],
      ['e\u0301', 'é'],
    ] as const) {
      assert.equal((await ann.post('/api2/repos/', { form: { name } })).body.repo_name, kept)
    }
  })
})

describe('POST /api/v2.1/repos/', () => {
  for (const encoding of ['form', 'multipart', 'json'] as const) {
    it(`creates a library (${encoding})`, async () => {
      const reply = await ann.post('/api/v2.1/repos/', { [encoding]: { repo_name: 'Plans' } })
      assert.equal(reply.status, 200)
      const { repo_id, ...rest } = reply.body
      assert.match(repo_id, /^[0-9a-f-]{36}$/)
      const expected = { repo_name: 'Plans', repo_size: 0, encrypted: false, mtime: NOW, email: ann.email }
      assert.deepEqual(rest, expected)
      assert.equal((await ann.get(`/api2/repos/${repo_id}/`)).body.name, 'Plans')
    })
  }

  it('also accepts `name`, and a password', async () => {
    const reply = await ann.post('/api/v2.1/repos', { form: { name: 'Secret', passwd: 'a password' } })
    assert.deepEqual([reply.status, reply.body.repo_name, reply.body.encrypted], [200, 'Secret', true])
    assert.equal((await ann.get(`/api2/repos/${reply.body.repo_id}/`)).body.enc_version, 2)
  })

  for (const name of [
    undefined,
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a\u0000b',
    '\ud800',
    'x'.repeat(256),
    {},
    null,
  ]) {
    it(`rejects the name ${JSON.stringify(name)?.slice(0, 40)}`, async () => {
      const reply = await ann.post('/api/v2.1/repos/', { json: { repo_name: name } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'repo_name invalid.' }])
    })
  }

  it('is closed to a role that may not add libraries', async () => {
    const guest = await server.signUp({ role: 'guest' })
    const reply = await guest.post('/api/v2.1/repos/', { form: { repo_name: 'Mine' } })
    assert.deepEqual([reply.status, reply.body], [403, { error_msg: 'Permission denied.' }])
  })
})
