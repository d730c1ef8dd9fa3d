import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import type { FileId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { Client } from '../support/client.ts'
import { at } from '../support/core.ts'
import { startServer } from '../support/server.ts'
import { openLibrary } from '../support/stored-files.ts'
import { filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const LIBRARIES = 4
const FILES_IN_FOLDER = 20_000
const CLIENTS = 8
const ROUNDS = 2
/** Of the files that each client uploads in a round. */
const SIZES = [4096, 4096, 4096, 70_000, 300_000, 1_000_000, 6_000_000, 20_000_000]

/** Libraries that the load is about, and an API token of their owner. */
interface Prepared {
  readonly token: string
  readonly libraries: readonly string[]
}

/** Creates libraries with a folder of 20,000 files each. */
export async function prepareLibraries(data: string): Promise<Prepared> {
  await using server = await startServer({ data })
  const client = await server.signUp()
  const libraries: string[] = []
  for (let number = 0; number < LIBRARIES; number += 1) {
    const id = await client.createLibrary(`Library ${number}`)
    libraries.push(id)
    const library = (await openLibrary(server, client, id)).editable(ROOT)
    await library.commit(async (tree) => {
      await tree.makeDirs(at('/many'))
      for (let n = 0; n < FILES_IN_FOLDER; n += 1) {
        const entry = { name: `report ${number} ${n}.txt`, mtime: tree.now, size: n, modifier: client.email }
        await tree.put(at('/many'), fileDirent({ id: '1'.repeat(40) as FileId, ...entry }))
      }
      return { description: 'Added files', result: undefined }
    })
  }
  return { token: client.token ?? assert.fail('no token'), libraries }
}

/** Uploads, downloads, searches, thumbnails and listings of several clients at the same time; as many on every machine. */
export async function runMixedLoad(url: string, { token, libraries }: Prepared): Promise<void> {
  const client = new Client(url, token)
  const pixels = { width: 1200, height: 900, channels: 3 } as const
  const noise = randomBytes(pixels.width * pixels.height * pixels.channels)
  const photo = await sharp(noise, { raw: pixels }).jpeg().toBuffer()
  const run = async (number: number) => {
    const library = libraries[number % libraries.length] ?? assert.fail('no library')
    const link = await uploadLink(client, library)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [n, size] of SIZES.entries()) {
        const name = `${number} ${round} ${n}.bin`
        expectOk(await postForm(link, [intoRoot, filePart(name, randomBytes(size))]))
        const address = await client.get(`/api2/repos/${library}/file/`, { p: `/${name}` })
        const response = await fetch(address.body)
        assert.equal((await response.arrayBuffer()).byteLength, size)
        expectOk(await client.get('/api2/search/', { q: `report ${round}` }))
      }
      const picture = `${number} ${round}.jpg`
      expectOk(await postForm(link, [intoRoot, filePart(picture, photo)]))
      await client.get(`/api2/repos/${library}/thumbnail/`, { p: `/${picture}`, size: 256 })
      for (const id of libraries) {
        expectOk(await client.get(`/api/v2.1/repos/${id}/dir/`, { p: '/many' }))
        expectOk(await client.get(`/api2/repos/${id}/dir/`, { p: '/many' }))
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => run(number)))
}

function expectOk({ status, text }: { status: number; text: string }): void {
  assert.equal(status, 200, text)
}
