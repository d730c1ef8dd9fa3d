import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Client } from '../../support/client.ts'
import { EventStream } from '../../support/event-stream.ts'
import { ADMIN } from '../../support/server.ts'
import { filePart, formBytes, intoRoot, postBody, uploadFile, uploadLink } from '../../support/transfer.ts'
import { asking, DavClient } from '../../webdav/dav-client.ts'

/** A call whose work has a budget. */
export interface BudgetedCall {
  readonly name: string
  /** Tasks that follow the response are counted, too. */
  readonly settles?: boolean
  readonly run: () => Promise<void>
  /** Removes what `run` has made, uncounted: a folder with more entries is more to hash. */
  readonly undo?: () => Promise<void>
}

const FILES = 100
const SMALL = 4096

/** Fills a server and returns the calls. */
export async function createCalls(url: string, stack: AsyncDisposableStack): Promise<BudgetedCall[]> {
  const client = await Client.signIn(url, ADMIN.email, ADMIN.password)
  const anonymous = new Client(url)
  const library = await client.createLibrary('Measured')
  const link = await uploadLink(client, library)
  const uploadTo = async (name: string, bytes: Buffer) => {
    const { status, text } = await postBody(link, formBytes([intoRoot, filePart(name, bytes)]))
    assert.equal(status, 200, text)
  }
  await makeFolder(client, library, '/folder')
  const names = Array.from({ length: FILES }, (_, n) => `file-${n}.txt`)
  const folder: [string, string] = ['parent_dir', '/folder']
  const filled = await postBody(
    await uploadLink(client, library, '/folder'),
    formBytes([folder, ...names.map((name) => filePart(name))]),
  )
  assert.equal(filled.status, 200, filled.text)
  await uploadFile(client, library, '/small.bin', randomBytes(1024))
  await uploadFile(client, library, '/large.bin', randomBytes(2 ** 20))
  const downloads = await Promise.all(
    ['/small.bin', '/large.bin'].map(async (file) => {
      const { text } = await client.get(`/api2/repos/${library}/file/?p=${file}&reuse=1`)
      return new URL(JSON.parse(text) as string).pathname
    }),
  )
  const [small = '', large = ''] = downloads
  const shared = await client.post('/api/v2.1/share-links/', {
    json: { repo_id: library, path: '/small.bin' },
  })
  const { token: shareToken } = shared.body as { token: string }
  const info = await client.get(`/api2/repos/${library}/download-info/`)
  const { token } = info.body as { token: string }
  const sync = { headers: { 'Seafile-Repo-Token': token } }
  const dav = new DavClient(url, ADMIN.email, ADMIN.password)
  const put = async (path: string, bytes: Buffer) => {
    const { status } = await anonymous.call('PUT', path, { ...sync, raw: bytes })
    assert.equal(status, 200)
  }
  const block = randomBytes(SMALL)
  const blockPath = (bytes: Buffer) =>
    `/seafhttp/repo/${library}/block/${createHash('sha1').update(bytes).digest('hex')}`
  await put(blockPath(block), block)
  const known = [blockPath(block).slice(-40), ...Array.from({ length: 99 }, (_, n) => sha1Of(`absent ${n}`))]
  // Names of files and folders, each of which is new.
  let made = 0
  const undo = (kind: 'dir' | 'file', prefix: string) => async () => {
    const { status, text } = await client.delete(`/api2/repos/${library}/${kind}/?p=/${prefix}-${made - 1}`)
    assert.equal(status, 200, text)
  }
  const get =
    (path: string, from = client, headers: Record<string, string> = {}) =>
    async () => {
      const { status } = await from.call('GET', path, { headers })
      assert.ok([200, 206, 302].includes(status), `${path}: ${status}`)
    }
  const calls: BudgetedCall[] = [
    { name: 'ping', run: get('/api2/ping/', anonymous) },
    { name: 'ping with a token', run: get('/api2/auth/ping/') },
    { name: 'list of libraries', run: get('/api2/repos/') },
    { name: 'listing of 100, v2', run: get(`/api2/repos/${library}/dir/?p=/folder`) },
    { name: 'listing of 100, v2.1', run: get(`/api/v2.1/repos/${library}/dir/?p=/folder`) },
    { name: 'file detail', run: get(`/api2/repos/${library}/file/detail/?p=/folder/file-7.txt`) },
    { name: 'upload link', run: get(`/api2/repos/${library}/upload-link/?p=/`) },
    { name: 'download link', run: get(`/api2/repos/${library}/file/?p=/small.bin`) },
    { name: 'download of 1 KB', run: get(small, anonymous) },
    { name: 'share link, sent on to its download', run: get(`/f/${shareToken}/?dl=1`, anonymous) },
    { name: 'range of 64 KiB', run: get(large, anonymous, { Range: 'bytes=65536-131071' }) },
    {
      name: 'check-blocks of 100',
      async run() {
        const { status } = await anonymous.call('POST', `/seafhttp/repo/${library}/check-blocks/`, {
          ...sync,
          json: known,
        })
        assert.equal(status, 200)
      },
    },
    { name: 'sync block, GET 4 KiB', run: get(blockPath(block), anonymous, sync.headers) },
    {
      name: 'sync block, PUT 4 KiB',
      async run() {
        const bytes = randomBytes(SMALL)
        await put(blockPath(bytes), bytes)
      },
    },
    {
      name: 'PROPFIND of 100',
      async run() {
        const body = asking('getcontentlength', 'getlastmodified', 'resourcetype')
        const { status } = await dav.propfind('/dav/Measured/folder/', '1', body)
        assert.equal(status, 207)
      },
    },
    { name: 'search', run: get('/api2/search/?q=file-42') },
    {
      name: 'upload of 4 KiB',
      settles: true,
      run: () => uploadTo(`upload-${made++}`, randomBytes(SMALL)),
      undo: undo('file', 'upload'),
    },
    {
      name: 'WebDAV PUT of 4 KiB',
      settles: true,
      async run() {
        const { status } = await dav.put(`/dav/Measured/dav-${made++}`, randomBytes(SMALL))
        assert.equal(status, 201)
      },
      undo: undo('file', 'dav'),
    },
    {
      name: 'new folder',
      settles: true,
      run: () => makeFolder(client, library, `/made-${made++}`),
      undo: undo('dir', 'made'),
    },
  ]
  let stream: EventStream | undefined
  // The last one, because the stream stays open.
  const streamed: BudgetedCall = {
    name: 'new folder, sent to an event stream',
    settles: true,
    async run() {
      stream ??= stack.use(await EventStream.open(client))
      await makeFolder(client, library, `/made-${made++}`)
      await stream.nextOf('commit')
    },
    async undo() {
      await undo('dir', 'made')()
      await stream?.nextOf('commit')
    },
  }
  return [...calls, streamed]
}

async function makeFolder(client: Client, library: string, path: string): Promise<void> {
  const { status, text } = await client.post(`/api2/repos/${library}/dir/?p=${path}`, {
    form: { operation: 'mkdir' },
  })
  assert.equal(status, 201, text)
}

function sha1Of(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
