import assert from 'node:assert/strict'
import * as kinds from './kinds.ts'
import { created, encryption } from './library-records.ts'
import { bodyOf } from './stage.ts'
import type { Case } from './statement.ts'

const SALT = 'c3'.repeat(32)

/** The rules for `POST /api2/repos/` of section 4.1. */
export const libraryCreationStatements: Case[] = [
  {
    id: '4.1/create',
    statement: '`POST /api2/repos/` answers 200 and the library',
    async run({ user }) {
      const made = await created(user, { name: 'Plans' })
      const detail = bodyOf(await user.get(`/api2/repos/${made.repo_id}/`))
      assert.deepEqual([detail.name, detail.head_commit_id], ['Plans', made.head_commit_id])
    },
  },
  {
    id: '4.1/create-name',
    statement: '`name` is the name of the library',
    async run({ user }) {
      assert.equal((await created(user, { name: 'Pläne 2' })).repo_name, 'Pläne 2')
    },
  },
  {
    id: '4.1/create-from-absent',
    statement: 'Without `from` a sync token is made and answered in `token`',
    async run({ user }) {
      const { token } = await created(user, { name: 'Plans' })
      assert.ok(kinds.objectId.holds(token), token)
    },
  },
  {
    id: '4.1/create-from-web',
    statement: 'With `from=web` no sync token is made',
    note: '`token` is then empty, as in the reference. `from` is taken from the query too.',
    async run({ user }) {
      assert.equal((await created(user, { name: 'Plans', from: 'web' })).token, '')
      const inQuery = { query: { from: 'web' }, form: { name: 'Plans' } }
      assert.equal(bodyOf(await user.post('/api2/repos/', inQuery)).token, '')
    },
  },
  ...[0, 1, 2].map(
    (enc_version): Case => ({
      id: `4.1/create-enc-version-${enc_version}`,
      statement: `\`enc_version\` ${enc_version} makes an encrypted library of version 2`,
      ...(enc_version < 2 && { note: 'The reference refuses it.' }),
      async run({ user }) {
        const made = await created(user, encryption({ enc_version }))
        assert.deepEqual([made.encrypted, made.enc_version, made.salt], [1, 2, ''])
      },
    }),
  ),
  {
    id: '4.1/create-enc-version-3',
    statement: '`enc_version` 3 makes an encrypted library of version 3',
    note: '4 is taken as well.',
    async run({ user }) {
      const made = await created(user, encryption({ enc_version: 3, salt: SALT }))
      assert.deepEqual([made.encrypted, made.enc_version, made.salt], [1, 3, SALT])
    },
  },
  {
    id: '4.1/create-salt',
    statement: 'With `enc_version` 3 `salt` must be passed',
    async run({ user }) {
      const reply = await user.post('/api2/repos/', { form: encryption({ enc_version: 3 }) })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: 'salt invalid.' }])
    },
  },
  {
    id: '4.1/create-encryption',
    statement: '`magic` and `random_key` are the client’s own and are kept as they were sent',
    async run({ user }) {
      const sent = encryption()
      const made = await created(user, sent)
      assert.deepEqual(
        [made.repo_id, made.magic, made.random_key],
        [sent['repo_id'], sent['magic'], sent['random_key']],
      )
      const detail = bodyOf(await user.get(`/api2/repos/${made.repo_id}/`))
      assert.deepEqual(
        [detail.encrypted, detail.magic, detail.random_key],
        [true, made.magic, made.random_key],
      )
    },
  },
]
