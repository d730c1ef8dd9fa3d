import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { Client, type Reply } from '../support/client.ts'
import { testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'
import { postForm, updateLink, uploadLink } from '../support/transfer.ts'
import { folder, LibraryModel, type Outcome } from './library-model.ts'

const SEQUENCES = Number(process.env['CARREL_TEST_SEQUENCES'] ?? rounds(50, 250, 1000))
const CLIENTS = 5

/** One call of one client. Numbers select among the existing entries; the same numbers select the same again. */
interface Step {
  readonly client: number
  readonly op: 'create' | 'mkdir' | 'upload' | 'update' | 'rename' | 'remove' | 'move' | 'copy' | 'delete'
  readonly at: number
  readonly other: number
  readonly count: number
  readonly name: string
  readonly replace: boolean
}

const names = fc.constantFrom('a', 'b.txt', 'b.txt', 'c (1).md', '.hidden', 'ü', '😀.x')
const step: fc.Arbitrary<Step> = fc.record({
  client: fc.nat(CLIENTS - 1),
  op: fc.constantFrom<Step['op']>(
    'create',
    'mkdir',
    'mkdir',
    'upload',
    'update',
    'rename',
    'remove',
    'move',
    'copy',
    'delete',
  ),
  at: fc.nat(1000),
  other: fc.nat(1000),
  count: fc.integer({ min: 1, max: 3 }),
  name: names,
  replace: fc.boolean(),
})

it(`${SEQUENCES} random sequences of up to ${CLIENTS} clients end as the model predicts`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  await using server = await startServer()
  const clients = await clientsOf(server)
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
    const [first] = clients
    assert.ok(first)
    const library = await first.createLibrary('Model')
    const model = new LibraryModel()
    for (const one of steps) {
      const client = clients[one.client] ?? first
      await perform({ client, library, model }, one)
    }
    await compare(first, library, model)
  })
  await fc.assert(property, { numRuns: SEQUENCES, seed })
})

/** The same account on several devices. */
async function clientsOf(server: TestServer): Promise<Client[]> {
  const owner = await server.signUp()
  const devices = Array.from({ length: CLIENTS - 1 }, async (_, device) => {
    const { accounts, apiTokens } = server.running.services
    const token = await apiTokens.issue(await accounts.get(owner.email), undefined, {
      platform: 'linux',
      deviceId: createHash('sha1').update(`${device}`).digest('hex'),
      deviceName: `device ${device}`,
      clientVersion: '',
      platformVersion: '',
    })
    return new Client(server.url, token, owner.email)
  })
  return [owner, ...(await Promise.all(devices))]
}

interface Stage {
  readonly client: Client
  readonly library: string
  readonly model: LibraryModel
}

/** Runs one step on both sides; the server must respond as the model predicts. */
async function perform(stage: Stage, one: Step): Promise<void> {
  const { model } = stage
  const folders = ['/', ...[...model.paths()].filter(([, content]) => content === null).map(([path]) => path)]
  const all = [...model.paths().keys()]
  // Sometimes a missing entry.
  const pathAt = (n: number) => (n % 7 === 0 ? '/missing' : (all[n % all.length] ?? '/missing'))
  const folderAt = (n: number) => (n % 11 === 0 ? '/missing' : (folders[n % folders.length] ?? '/'))
  switch (one.op) {
    case 'create':
    case 'mkdir':
      return add(stage, one.op, folderAt(one.at), one.name)
    case 'upload':
      return upload(stage, folderAt(one.at), one.name, `content ${one.other}`, one.replace)
    case 'update':
      return update(stage, pathAt(one.at), `content ${one.other}`)
    case 'rename':
      return rename(stage, pathAt(one.at), one.name)
    case 'remove':
      return remove(stage, pathAt(one.at))
    default:
      return batch(stage, one.op, folderAt(one.at), folderAt(one.other), one.count)
  }
}

async function add(stage: Stage, op: 'create' | 'mkdir', parent: string, name: string): Promise<void> {
  const kind = op === 'create' ? 'file' : 'dir'
  const outcome = stage.model.add(parent, name, op === 'create' ? { kind: 'file', content: '' } : folder())
  const reply = await stage.client.post(`/api/v2.1/repos/${stage.library}/${kind}/`, {
    query: { p: join(parent, name) },
    form: { operation: op },
  })
  expect(reply, outcome)
}

async function upload(
  stage: Stage,
  parent: string,
  name: string,
  content: string,
  replace: boolean,
): Promise<void> {
  const outcome = stage.model.upload(parent, name, content, replace)
  if (outcome === 'not-found') {
    return expect(await stage.client.get(`/api2/repos/${stage.library}/upload-link/`, { p: parent }), outcome)
  }
  const link = await uploadLink(stage.client, stage.library, parent)
  const reply = await postForm(link, [
    ['parent_dir', parent],
    ['replace', replace ? '1' : '0'],
    { filename: name, bytes: content },
  ])
  expect(reply, outcome)
}

async function update(stage: Stage, path: string, content: string): Promise<void> {
  const outcome = stage.model.update(path, content)
  // An update link is for one file.
  const link = await updateLink(stage.client, stage.library)
  const reply = await postForm(link, [['target_file', path], { filename: 'ignored', bytes: content }])
  assert.equal(reply.status, outcome === 'done' ? 200 : 441, reply.text)
}

async function rename(stage: Stage, path: string, newname: string): Promise<void> {
  const kind = stage.model.at(path)?.kind ?? 'file'
  const isSame = path.endsWith(`/${newname}`)
  // A rename to the same name is rejected for a file and ignored for a folder.
  const outcome = stage.model.rename(path, newname)
  const reply = await stage.client.post(`/api/v2.1/repos/${stage.library}/${kind}/`, {
    query: { p: path },
    json: { operation: 'rename', newname },
  })
  if (isSame && kind === 'file') assert.equal(reply.status, 400, reply.text)
  else expect(reply, outcome)
}

async function remove(stage: Stage, path: string): Promise<void> {
  const kind = stage.model.at(path)?.kind ?? 'file'
  stage.model.remove(path)
  // Deleting a missing file succeeds.
  const reply = await stage.client.delete(`/api/v2.1/repos/${stage.library}/${kind}/`, { query: { p: path } })
  expect(reply, 'done')
}

async function batch(
  stage: Stage,
  op: 'move' | 'copy' | 'delete',
  parent: string,
  target: string,
  count: number,
): Promise<void> {
  const { client, library, model } = stage
  const present = [...(model.folderAt(parent)?.entries.keys() ?? [])].slice(0, count)
  const dirents = present.length > 0 ? present : ['missing']
  if (op === 'delete') {
    const outcome = model.folderAt(parent) === undefined ? 'not-found' : 'done'
    for (const name of present) model.remove(join(parent, name))
    const json = { repo_id: library, parent_dir: parent, dirents }
    return expect(await client.delete('/api/v2.1/repos/batch-delete-item/', { json }), outcome)
  }
  const outcome = model[op](parent, dirents, target)
  const json = {
    src_repo_id: library,
    src_parent_dir: parent,
    src_dirents: dirents,
    dst_repo_id: library,
    dst_parent_dir: target,
  }
  expect(await client.post(`/api/v2.1/repos/sync-batch-${op}-item/`, { json }), outcome)
}

function expect(reply: Reply, outcome: Outcome): void {
  const status = { done: 200, 'not-found': 404, 'into-itself': 400 }[outcome]
  assert.equal(reply.status, status, `${reply.text} where the model says ${outcome}`)
}

/** The whole tree, the contents by their ids, and the totals. */
async function compare(client: Client, library: string, model: LibraryModel): Promise<void> {
  const listing = await client.get(`/api/v2.1/repos/${library}/dir/`, { p: '/', recursive: 1 })
  const expected = [...model.paths()].map(([path, content]) => {
    return content === null ? `${path}/` : `${path} ${content.length} ${fileIdOf(content)}`
  })
  const found = listing.body.dirent_list.map(
    (entry: { type: string; parent_dir: string; name: string; size: number; id: string }) => {
      const path = join(entry.parent_dir.replace(/(?<=.)\/$/, ''), entry.name)
      return entry.type === 'dir' ? `${path}/` : `${path} ${entry.size} ${entry.id}`
    },
  )
  assert.deepEqual(found.sort(), expected.sort())
  const detail = await client.get(`/api2/repos/${library}/`)
  const files = [...model.paths().values()].filter((content) => content !== null)
  assert.equal(detail.body.file_count, files.length)
  assert.equal(
    detail.body.size,
    files.reduce((sum, content) => sum + content.length, 0),
  )
}

/** The id existing clients compute for a file of one block. */
function fileIdOf(content: string): string {
  if (content === '') return '0'.repeat(40)
  const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')
  return sha1(`{"block_ids": ["${sha1(content)}"], "size": ${content.length}, "type": 1, "version": 1}`)
}

function join(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`
}
