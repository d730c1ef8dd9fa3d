import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Client } from '../support/client.ts'
import { postForm, uploadFile } from '../support/transfer.ts'

export const PASSWORD = 'a long password'

/** Signs in without naming a device. */
export function signIn(url: string, email: string): Promise<Client> {
  return Client.signIn(url, email, PASSWORD)
}

/** Signs in on a device; `name` is the device name and determines its id. */
export async function signInOn(url: string, email: string, name: string): Promise<Client> {
  const device_id = createHash('sha1').update(name).digest('hex')
  const form = { username: email, password: PASSWORD, platform: 'linux', device_id, device_name: name }
  const reply = await new Client(url).post('/api2/auth-token/', { form })
  assert.equal(reply.status, 200, reply.text)
  return new Client(url, reply.body.token, email)
}

/** One transfer a client has a credential for; `use` returns the status of the next request. */
export interface Transfer {
  readonly use: (at?: string) => Promise<number>
}

const BYTES = Buffer.from('the content of a file')

/** Issues a ticket of every kind for a library and creates the files they need. */
export async function everyTicket(client: Client, library: string): Promise<Record<string, Transfer>> {
  for (const path of ['/one.txt', '/two.txt', '/three.txt']) await uploadFile(client, library, path, BYTES)
  const ask = async (path: string, query: Record<string, string | number> = {}) => {
    const reply = await client.get(`/api2/repos/${library}/${path}`, query)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const file = (await ask('file/', { p: '/one.txt', op: 'downloadblks' })) as {
    file_id: string
    blklist: string[]
  }
  const block = (await ask(`files/${file.file_id}/blks/${file.blklist[0]}/download-link/`)) as string
  const download = (await ask('file/', { p: '/one.txt', reuse: 1 })) as string
  const upload = (await ask('upload-link/', { p: '/' })) as string
  const update = (await ask('update-link/', { p: '/' })) as string
  const uploadBlocks = (await ask('upload-blks-link/', { p: '/' })) as string
  const updateBlocks = (await ask('update-blks-link/', { p: '/' })) as string
  const zip = await client.post(`/api/v2.1/repos/${library}/zip-task/`, {
    form: { parent_dir: '/', dirents: 'one.txt' },
  })
  assert.equal(zip.status, 200, zip.text)
  const progress = (at: string) =>
    new Client(at).get('/api/v2.1/query-zip-progress/', { token: zip.body.zip_token })
  let count = 0
  const moved = (link: string, at = client.url) => at + link.slice(new URL(link).origin.length)
  const get = async (link: string) => {
    const response = await fetch(link)
    await response.arrayBuffer()
    return response.status
  }
  const blockForm = { file_size: 0, blockids: '[]' }
  const commit = (link: string, form: Record<string, string | number>, at: string | undefined) =>
    new Client(moved(link, at)).post('?commitonly=true', { form: { ...form, ...blockForm } })
  const sent = async (reply: Promise<{ status: number }>) => (await reply).status
  return {
    download: { use: (at) => get(moved(download, at)) },
    'download-blocks': { use: (at) => get(moved(block, at)) },
    upload: {
      use: (at) =>
        sent(
          postForm(moved(upload, at), [['parent_dir', '/'], { filename: `new ${++count}`, bytes: BYTES }]),
        ),
    },
    update: {
      use: (at) =>
        sent(
          postForm(moved(update, at), [['target_file', '/two.txt'], { filename: 'x', bytes: `${++count}` }]),
        ),
    },
    'upload-blocks': {
      use: (at) => sent(commit(uploadBlocks, { parent_dir: '/', file_name: `blocks ${++count}` }, at)),
    },
    'update-blocks': { use: (at) => sent(commit(updateBlocks, { target_file: '/three.txt' }, at)) },
    // Archives live in the process that creates them.
    archive: { use: () => sent(progress(client.url)) },
  }
}
