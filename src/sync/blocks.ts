import type { Readable } from 'node:stream'
import { fail } from '../errors.ts'
import { Answer, raw } from '../http/answer.ts'
import { readBody } from '../http/body.ts'
import { BodyChunks } from '../http/body-chunks.ts'
import { begin } from '../http/ranges-reading.ts'
import { map, rawText } from '../http/readers.ts'
import { TextRefusal } from '../http/refusal.ts'
import { blockSizes } from '../library/block-upload.ts'
import { SMALLEST_STORED_BLOCK } from '../library/content.ts'
import { noteShown, shownAmong } from '../library/synced.ts'
import { EMPTY_ID, parseBlockId, parseFileId } from '../objects/ids.ts'
import { badRequest, done, libraryParam } from './readers.ts'
import { route } from './services.ts'

/** Clients cut files into blocks of at most some 10 MB. */
const LARGEST_BLOCK = 64 * 2 ** 20

const params = { repo_id: libraryParam, block_id: map(rawText(), (text) => parseBlockId(text ?? '')) }

export const blockRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/block/:block_id',
    auth: 'none',
    summary: 'Sends a block as it is stored.',
    params,
    async handle({ params: { repo_id: id, block_id: blockId }, request }, { core, syncDoor }) {
      // Clients ask for one block after another: each turn of waiting costs microseconds, so what is already there is
      // not waited for.
      const opened = syncDoor.open(request, id)
      const { info } = opened instanceof Promise ? await opened : opened
      const isShown = info.sub === undefined || (await shownAmong(core, info, [blockId])).has(blockId)
      const found = isShown ? core.content.findBlock(info.key, blockId) : undefined
      const block = found instanceof Promise ? await found : found
      const { size, read, readAtOnce } = block ?? fail({ code: 'block-missing', id: blockId })
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': size }
      const whole = { start: 0, end: size }
      const reading = readAtOnce(whole)
      const held = reading instanceof Promise ? await reading : reading
      if (held === undefined) return raw({ headers, body: await begin(read(whole), size) })
      return new Answer(200, headers, held.bytes, held.giveBack)
    },
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/block/:block_id',
    auth: 'none',
    summary: 'Takes a block, for a file to name it.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id, block_id: blockId }, request, body }, { core, syncDoor }) {
      const library = await syncDoor.edit(request, id)
      const length = Number(request.headers['content-length'] ?? Number.NaN)
      if (length > LARGEST_BLOCK) throw badRequest('Block is too large')
      if (length < SMALLEST_STORED_BLOCK) {
        await core.blockIntake.put(library, blockId, await readBody(body, SMALLEST_STORED_BLOCK))
      } else {
        await core.blockIntake.receive(library, blockId, bounded(body))
      }
      await noteShown(core, library.info, [blockId])
      return done
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/block-map/:file_id',
    auth: 'none',
    summary: 'The sizes of the blocks of a file, in order.',
    params: { repo_id: libraryParam, file_id: map(rawText(), (text) => parseFileId(text ?? '')) },
    async handle({ params: { repo_id: id, file_id: fileId }, request }, { core, syncDoor }) {
      const library = await syncDoor.open(request, id)
      const isShown = fileId === EMPTY_ID || (await shownAmong(core, library.info, [fileId])).has(fileId)
      const sizes = isShown ? await blockSizes(core, library, fileId) : undefined
      if (sizes === undefined) throw new TextRefusal(404, 'File does not exist')
      return sizes
    },
  }),
]

async function* bounded(body: Readable): AsyncGenerator<Buffer, void> {
  const chunks = new BodyChunks(body)
  try {
    let size = 0
    for (let chunk = await chunks.read(); chunk !== undefined; chunk = await chunks.read()) {
      size += chunk.length
      if (size > LARGEST_BLOCK) throw badRequest('Block is too large')
      yield chunk
    }
  } finally {
    chunks.release()
  }
}
