import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import * as fc from 'fast-check'
import { Client, type Reply } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { postForm, updateLink, uploadLink } from '../support/transfer.ts'

const SEQUENCES = Number(process.env['CARREL_TEST_SEQUENCES'] ?? 60)
/** Sequences of which the server is backed up, restored and compared once more. */
const BACKED_UP = 10

const NAMES = ['a.txt', 'b.txt', 'c.bin'] as const
type Name = (typeof NAMES)[number]

/** One call of the owner of a library or of a member it may be shared with. */
interface Step {
  readonly op:
    | 'upload'
    | 'chunks'
    | 'update'
    | 'rename'
    | 'remove'
    | 'lock'
    | 'unlock'
    | 'share'
    | 'unshare'
    | 'copy'
    | 'push'
    | 'empty-trash'
    | 'collect'
  readonly isMember: boolean
  readonly name: Name
  readonly other: Name
  /** Some are stored in a row of the database, some in a file. */
  readonly size: number
}

const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom<Step['op']>(
    'upload',
    'upload',
    'chunks',
    'update',
    'rename',
    'remove',
    'lock',
    'unlock',
    'share',
    'share',
    'unshare',
    'copy',
    'push',
    'empty-trash',
    'collect',
  ),
  isMember: fc.boolean(),
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  size: fc.constantFrom(1, 100, 5000, 70_000, 200_000),
})

type Person = 'owner' | 'member'

/** A library with flat names, its locks and its one share, without any of the server's code. */
class Model {
  readonly files = new Map<string, string>()
  /** Names in the library that copies go to. */
  readonly copies = new Map<string, string>()
  readonly locks = new Map<string, Person>()
  isShared = false

  /** Whether somebody may open the library. */
  mayOpen(who: Person): boolean {
    return who === 'owner' || this.isShared
  }

  /** Whether a file is locked by the other one. */
  isHeldBack(who: Person, name: string): boolean {
    const holder = this.locks.get(name)
    return holder !== undefined && holder !== who
  }

  rename(from: string, to: string): void {
    const content = this.files.get(from)
    const holder = this.locks.get(from)
    if (content === undefined || from === to) return
    const target = freeName(this.files, to)
    this.files.delete(from)
    this.locks.delete(from)
    this.files.set(target, content)
    if (holder !== undefined) this.locks.set(target, holder)
  }

  remove(name: string): void {
    this.files.delete(name)
    this.locks.delete(name)
  }
}

interface Stage {
  readonly server: TestServer
  readonly owner: Client
  readonly member: Client
  readonly library: string
  readonly target: string
  readonly model: Model
  content: number
}

it(`${SEQUENCES} random sequences of uploads, locks, shares, tasks, pushes and collections end as the model predicts`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  await using server = await startServer({ env: { CARREL_GC_GRACE_SECONDS: '0' } })
  const owner = await server.signUp()
  const member = await server.signUp()
  const stages: Stage[] = []
  const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
    const stage: Stage = {
      server,
      owner,
      member,
      library: await owner.createLibrary('Model'),
      target: await owner.createLibrary('Copies'),
      model: new Model(),
      content: 0,
    }
    for (const one of steps) await perform(stage, one)
    await compare(stage, owner)
    stages.push(stage)
  })
  await fc.assert(property, { numRuns: SEQUENCES, seed })
  // Whatever came after must not have changed an earlier library.
  for (const stage of stages) await compare(stage, owner)
  await compareRestored(server, stages.slice(-BACKED_UP))
})

/** Runs one step on both sides; the server must respond as the model predicts. */
async function perform(stage: Stage, one: Step): Promise<void> {
  const { model, owner, member, library } = stage
  const who: Person = one.isMember ? 'member' : 'owner'
  const client = one.isMember ? member : owner
  const api = `/api/v2.1/repos/${library}`
  const query = { p: `/${one.name}` }
  const isThere = model.files.has(one.name)
  if (one.op === 'collect') return collect(stage)
  if (one.op === 'share' || one.op === 'unshare') return share(stage, one.op === 'share')
  if (!model.mayOpen(who)) return expectStatus(await client.get(`${api}/dir/`, { p: '/' }), 403)
  switch (one.op) {
    case 'upload':
    case 'chunks':
      return upload(stage, client, who, one)
    case 'update': {
      const link = await updateLink(client, library)
      const content = contentOf(stage, one.size)
      const reply = await postForm(link, [['target_file', `/${one.name}`], { filename: 'x', bytes: content }])
      if (!isThere) return expectStatus(reply, 441)
      if (model.isHeldBack(who, one.name)) return expectStatus(reply, 403)
      expectStatus(reply, 200)
      model.files.set(one.name, content)
      return
    }
    case 'rename': {
      if (!isThere || one.name === one.other) return
      const form = { operation: 'rename', newname: one.other }
      const reply = await client.post(`${api}/file/`, { query, form })
      if (model.isHeldBack(who, one.name)) return expectStatus(reply, 403)
      expectStatus(reply, 200)
      return model.rename(one.name, one.other)
    }
    case 'remove': {
      const reply = await client.delete(`${api}/file/`, { query })
      if (model.isHeldBack(who, one.name)) return expectStatus(reply, 423)
      expectStatus(reply, 200)
      return model.remove(one.name)
    }
    case 'lock': {
      if (!isThere || model.locks.has(one.name)) return
      expectStatus(await client.put(`${api}/file/`, { query, form: { operation: 'lock' } }), 200)
      model.locks.set(one.name, who)
      return
    }
    case 'unlock': {
      if (!isThere || model.locks.get(one.name) !== who) return
      expectStatus(await client.put(`${api}/file/`, { query, form: { operation: 'unlock' } }), 200)
      model.locks.delete(one.name)
      return
    }
    case 'copy':
      return isThere ? copy(stage, one.name) : undefined
    case 'push':
      return push(stage, one)
    case 'empty-trash': {
      const reply = await owner.delete(`${api}/trash/`, { form: { keep_days: 0 } })
      return expectStatus(reply, 200)
    }
  }
}

/** The second run deletes what the first one condemned. */
async function collect({ server }: Stage): Promise<void> {
  for (const _run of ['condemn', 'delete']) await server.running.services.gc.runOnce()
}

/** Replaces a file of that name. Locked by the other one, it is refused and the file stays. */
async function upload(stage: Stage, client: Client, who: Person, { op, name, size }: Step): Promise<void> {
  const { model, library } = stage
  const content = contentOf(stage, size)
  const link = await uploadLink(client, library)
  const half = op === 'chunks' && size > 1 ? Math.floor(size / 2) : size
  const isRefused = model.isHeldBack(who, name)
  for (const [start, end] of half === size
    ? [[0, size]]
    : [
        [0, half],
        [half, size],
      ]) {
    const bytes = content.slice(start, end)
    const isLast = end === size
    const reply = await postForm(
      link,
      [['parent_dir', '/'], ['replace', '1'], { filename: name, bytes }],
      half === size
        ? {}
        : {
            query: 'ret-json=1',
            headers: {
              'Content-Range': `bytes ${start}-${(end ?? 0) - 1}/${size}`,
              'Content-Disposition': `attachment; filename="${name}"`,
            },
          },
    )
    if (isRefused && reply.status === 403) return
    assert.ok(!(isRefused && isLast), `an upload replaced a locked file: ${reply.status} ${reply.text}`)
    expectStatus(reply, 200)
  }
  model.files.set(name, content)
}

async function share({ owner, member, library, model }: Stage, isShared: boolean): Promise<void> {
  const url = `/api2/repos/${library}/dir/shared_items/`
  if (model.isShared === isShared) return
  const form = { share_type: 'user', username: member.email, permission: 'rw' }
  const reply = isShared
    ? await owner.put(url, { query: { p: '/' }, form })
    : await owner.delete(url, { query: { p: '/', share_type: 'user', username: member.email } })
  expectStatus(reply, 200)
  model.isShared = isShared
}

/** As a background task between two libraries. */
async function copy({ owner, library, target, model }: Stage, name: string): Promise<void> {
  const started = await owner.post('/api/v2.1/repos/async-batch-copy-item/', {
    json: {
      src_repo_id: library,
      src_parent_dir: '/',
      src_dirents: [name],
      dst_repo_id: target,
      dst_parent_dir: '/',
    },
  })
  expectStatus(started, 200)
  for (;;) {
    const query = { task_id: started.body.task_id }
    const progress = await owner.get('/api/v2.1/query-copy-move-progress/', query)
    expectStatus(progress, 200)
    assert.notEqual(progress.body.failed, true, progress.text)
    if (progress.body.done === true || progress.body.successful === true) break
    await delay(2)
  }
  model.copies.set(freeName(model.copies, name), model.files.get(name) ?? '')
}

/** A desktop client of the owner that changes one file of the current state. */
async function push(stage: Stage, { name, size }: Step): Promise<void> {
  const { owner, library, model } = stage
  if (model.isHeldBack('owner', name)) return
  const sync = await SyncClient.link(owner, library)
  const content = contentOf(stage, size)
  const files = Object.fromEntries([...model.files, [name, content]])
  await sync.push(files, await sync.head())
  model.files.set(name, content)
}

/** Names, contents by their ids, totals, locks and the share. */
async function compare({ library, target, model, member }: Stage, owner: Client): Promise<void> {
  for (const [id, files] of [
    [library, model.files],
    [target, model.copies],
  ] as const) {
    const listing = await owner.get(`/api/v2.1/repos/${id}/dir/`, { p: '/' })
    expectStatus(listing, 200)
    const found = listing.body.dirent_list.map(
      (entry: { name: string; size: number; id: string; is_locked: boolean }) =>
        `${entry.name} ${entry.size} ${entry.id} ${entry.is_locked ? 'locked' : 'free'}`,
    )
    const isLocked = (name: string) => id === library && model.locks.has(name)
    const expected = Array.from(files, ([name, content]) => {
      return `${name} ${content.length} ${fileIdOf(content)} ${isLocked(name) ? 'locked' : 'free'}`
    })
    assert.deepEqual(found.sort(), expected.sort())
    const detail = await owner.get(`/api2/repos/${id}/`)
    assert.equal(
      detail.body.size,
      [...files.values()].reduce((sum, content) => sum + content.length, 0),
    )
  }
  const seen = await new Client(owner.url, member.token).get(`/api2/repos/${library}/`)
  assert.equal(seen.status, model.isShared ? 200 : 403)
}

/** A backup of the running server, restored elsewhere, has the same libraries. */
async function compareRestored(server: TestServer, stages: readonly Stage[]): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-model-'))
  try {
    const [target, data] = [path.join(folder, 'target'), path.join(folder, 'data')]
    for (const args of [
      ['backup', target, '--data', server.data],
      ['restore', target, '--data', data],
    ]) {
      const { code, stderr } = await carrel(args)
      assert.equal(code, 0, `carrel ${args[0]}: ${stderr}`)
    }
    await using restored = await startServer({ data })
    for (const stage of stages) {
      const owner = new Client(restored.url, stage.owner.token, stage.owner.email)
      await compare(stage, owner)
      for (const [name, content] of stage.model.files) {
        const link = await owner.get(`/api2/repos/${stage.library}/file/`, { p: `/${name}` })
        assert.equal(await (await fetch(link.body)).text(), content, name)
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Never the same twice. */
function contentOf(stage: Stage, size: number): string {
  stage.content += 1
  return `${stage.content} ${stage.library} `.repeat(Math.ceil(size / 30) + 1).slice(0, size)
}

function freeName(files: ReadonlyMap<string, unknown>, wanted: string): string {
  const dot = wanted.lastIndexOf('.')
  let name = wanted
  for (let n = 1; files.has(name); n += 1) name = `${wanted.slice(0, dot)} (${n})${wanted.slice(dot)}`
  return name
}

/** The id existing clients compute for a file of one block. */
function fileIdOf(content: string): string {
  const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
  return sha1(`{"block_ids": ["${sha1(content)}"], "size": ${content.length}, "type": 1, "version": 1}`)
}

function expectStatus(reply: Reply, status: number): void {
  assert.equal(reply.status, status, reply.text.slice(0, 500))
}
