import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { carrelProcess, type Serving, serve } from '../support/command.ts'

const admin = { CARREL_ADMIN_EMAIL: 'root@example.org', CARREL_ADMIN_PASSWORD: 'correct horse battery' }

describe('carrel access why', { timeout: 300_000 }, () => {
  let data = ''
  let server: Serving
  let id = ''
  let sub = ''
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-access-'))
    server = await serve(['--data', data, '--rate-limit', 'off'], { env: admin })
    const input = 'a long password\n'
    const added = await carrelProcess(
      ['user', 'add', 'bob@example.org', '--password-stdin', '--data', data],
      {
        input,
      },
    )
    assert.equal(added.code, 0, added.stderr)
    const root = await Client.signIn(server.url, 'root@example.org', 'correct horse battery')
    id = await root.createLibrary('Plans')
    const form = { operation: 'mkdir', create_parents: 'true' }
    await root.post(`/api2/repos/${id}/dir/`, { query: { p: '/a/b' }, form })
    const shared = await root.put(`/api2/repos/${id}/dir/shared_items/`, {
      query: { p: '/a' },
      form: { share_type: 'user', username: 'bob@example.org', permission: 'r' },
    })
    sub = shared.body.virtual_repo_id
  })
  after(async () => {
    assert.equal((await server.stop()).code, 0)
    await rm(data, { recursive: true })
  })
  const why = (...args: string[]) => carrelProcess(['access', 'why', ...args, '--data', data])

  it('prints the deciding grant as text', async () => {
    const said = await why('bob@example.org', id, '/a/b')
    assert.equal(said.code, 0, said.stderr)
    assert.equal(
      said.stdout.split('\n').slice(0, 3).join('\n'),
      [
        'bob@example.org at /a/b of Plans: r',
        'The folder /a is shared with bob@example.org (r).',
        `The folder is the library ${sub} to them.`,
      ].join('\n'),
    )
    assert.match(said.stdout, /\* +user +\/a +r +decides/)
  })

  it('prints it as JSON, also by the id of a folder', async () => {
    const said = await why('bob@example.org', sub, '/b', '--json')
    assert.equal(said.code, 0, said.stderr)
    const found = JSON.parse(said.stdout)
    assert.deepEqual([found.path, found.permission, found.openAs, found.grants.length], ['/a/b', 'r', sub, 1])
    const none = JSON.parse((await why('bob@example.org', id, '/', '--json')).stdout)
    assert.deepEqual([none.permission, none.openAs], [null, null])
    assert.deepEqual([none.grants[0].reaches, none.grants[0].decides], [false, false])
  })

  it('explains invalid arguments', async () => {
    const cases: [args: string[], words: RegExp][] = [
      [['no@example.org', id, '/'], /There is no account no@example\.org/],
      [['bob@example.org', 'x', '/'], /There is no library x/],
      [['bob@example.org', '00000000-0000-4000-8000-000000000000', '/'], /There is no library/],
      [['bob@example.org', id, '/../x'], /is no path in a library/],
    ]
    for (const [args, words] of cases) {
      const said = await why(...args)
      assert.notEqual(said.code, 0)
      assert.match(said.stderr, words)
    }
  })
})
