import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Reply } from '../support/client.ts'
import { holdLog } from '../support/held-log.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { postForm, updateLink, uploadFile } from '../support/transfer.ts'

let server: TestServer
let user: Client
let library = ''
before(async () => {
  server = await startServer()
  user = await server.signUp()
  library = await user.createLibrary()
  await uploadFile(user, library, '/a.txt', 'first')
  await uploadFile(user, library, '/gone.txt', 'x')
})
after(() => server[Symbol.asyncDispose]())

/** A change, and how it shows that it is committed. What it needs is prepared before the log is held. */
interface Case {
  readonly prepare: () => Promise<{ change: () => Promise<Reply>; isDone: () => Promise<boolean> }>
}

const entryOf = (name: string) => `/api/v2.1/repos/${library}/file/?p=/${name}`

const cases: Record<string, Case> = {
  'an update with the same bytes': {
    async prepare() {
      const link = await updateLink(user, library, { p: '/a.txt' })
      const change = () => postForm(link, [['target_file', '/a.txt'], { filename: 'a.txt', bytes: 'second' }])
      const isDone = async () =>
        (await user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' })).body.size === 6
      return { change, isDone }
    },
  },
  'a repeated push': {
    async prepare() {
      const sync = await SyncClient.link(user, await user.createLibrary())
      const id = await sync.send({ 'pushed.txt': 'bytes' }, await sync.head())
      return { change: () => sync.putHead(id), isDone: async () => (await sync.head()) === id }
    },
  },
  'deleting what is gone': {
    async prepare() {
      const change = () => user.delete(entryOf('gone.txt'))
      return { change, isDone: async () => (await user.get(entryOf('gone.txt'))).status === 404 }
    },
  },
  'locking a locked file': {
    async prepare() {
      const change = () =>
        user.put(`/api/v2.1/repos/${library}/file/?p=/a.txt`, { form: { operation: 'lock' } })
      const isDone = async () =>
        (await user.get(`/api2/repos/${library}/dir/`)).body.some(
          (one: { is_locked?: boolean }) => one.is_locked,
        )
      return { change, isDone }
    },
  },
  'starring a starred file': {
    async prepare() {
      const change = () =>
        user.post('/api/v2.1/starred-items/', { form: { repo_id: library, path: '/a.txt' } })
      const isDone = async () =>
        (await user.get('/api/v2.1/starred-items/')).body.starred_item_list.length > 0
      return { change, isDone }
    },
  },
  'sharing again with the same user': {
    async prepare() {
      const other = await server.signUp()
      const form = { share_type: 'user', username: other.email, permission: 'rw' }
      const url = `/api2/repos/${library}/dir/shared_items/?p=/`
      const isDone = async () =>
        (await user.get(`${url}&share_type=user`)).body.some(
          (one: { user_info: { name: string } }) => one.user_info.name === other.email,
        )
      return { change: () => user.put(url, { form }), isDone }
    },
  },
  'giving a library the name it has': {
    async prepare() {
      const change = () => user.post(`/api2/repos/${library}/?op=rename`, { form: { repo_name: 'Renamed' } })
      const isDone = async () => (await user.get(`/api2/repos/${library}/`)).body.name === 'Renamed'
      return { change, isDone }
    },
  },
  'deleting a deleted link': {
    async prepare() {
      const made = await user.post('/api/v2.1/share-links/', { json: { repo_id: library, path: '/a.txt' } })
      const url = `/api/v2.1/share-links/${made.body.token}/`
      return { change: () => user.delete(url), isDone: async () => (await user.get(url)).status !== 200 }
    },
  },
  'deleting a deleted library': {
    async prepare() {
      const url = `/api2/repos/${await user.createLibrary()}/`
      return { change: () => user.delete(url), isDone: async () => (await user.get(url)).status !== 200 }
    },
  },
}

describe('a request that finds its change made', () => {
  for (const [name, { prepare }] of Object.entries(cases)) {
    it(`waits until that change is durable: ${name}`, async (t) => {
      const { change, isDone } = await prepare()
      await using _held = { [Symbol.asyncDispose]: async () => held.release() }
      const held = await holdLog(t)
      const answered: string[] = []
      const first = change().then((reply) => answered.push(`first ${reply.status}`))
      while (!(await isDone())) assert.deepEqual(answered, [])
      const second = change().then((reply) => answered.push(`second ${reply.status}`))
      // Without a wait it would be answered long before these.
      for (let n = 0; n < 25; n += 1) await user.get('/api2/ping/')
      assert.deepEqual(answered, [])
      assert.ok(held.waiting > 0)
      held.release()
      await Promise.all([first, second])
      assert.equal(answered.length, 2)
    })
  }
})
