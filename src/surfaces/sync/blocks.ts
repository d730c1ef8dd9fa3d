import { fail } from '../../base/errors.ts'
import { type BlockId, EMPTY_ID, parseBlockId, parseFileId } from '../../base/objects/index.ts'
import { whenReady } from '../../base/scheduling/index.ts'
import { SMALLEST_STORED_BLOCK, type StoredBytes } from '../../libraries/content/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import type { ClientPush } from '../../libraries/push/index.ts'
import { type RequestBody, readBody, STREAM_BYTES } from '../../platform/http/index.ts'
import { map, rawText } from '../../platform/input/index.ts'
import { startChunks } from '../../platform/representations/index.ts'
import { type HeldBytes, HttpResponse, rawResponse, TextRefusal } from '../../platform/responses/index.ts'
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
    summary: 'Sends a block as stored.',
    params,
    handle: ({ params: { repo_id: id, block_id: blockId }, request }, { push, syncAccess }) =>
      whenReady(syncAccess.open(request, id), (library) => sendBlock(push, library, blockId)),
  }),
  route({
    method: 'PUT',
    path: '/seafhttp/repo/:repo_id/block/:block_id',
    auth: 'none',
    summary: 'Receives a block.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id, block_id: blockId }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.edit(request, id)
      const length = Number(request.header('content-length') ?? Number.NaN)
      if (length > LARGEST_BLOCK) throw badRequest('Block is too large')
      request.chargeTo(String(library.actor.key))
      if (length < SMALLEST_STORED_BLOCK) {
        const bytes = await readBody(body, SMALLEST_STORED_BLOCK, request.bodyClaim)
        await push.putBlock(library, blockId, bytes)
      } else {
        await request.bodyClaim.growTo(STREAM_BYTES)
        await push.receiveBlock(library, blockId, bounded(body))
      }
      if (library.info.sub !== undefined) await push.markVisible(library, [blockId])
      return done
    },
  }),
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/block-map/:file_id',
    auth: 'none',
    summary: 'Returns the sizes of the blocks of a file, in order.',
    params: { repo_id: libraryParam, file_id: map(rawText(), (text) => parseFileId(text ?? '')) },
    async handle({ params: { repo_id: id, file_id: fileId }, request }, { push, syncAccess }) {
      const library = await syncAccess.open(request, id)
      const isShown = fileId === EMPTY_ID || (await push.visibleAmong(library, [fileId])).has(fileId)
      const sizes = isShown ? await push.blockSizes(library, fileId) : undefined
      if (sizes === undefined) throw new TextRefusal(404, 'File does not exist')
      return sizes
    },
  }),
]

/** Throws block-missing, at once or later. */
function sendBlock(push: ClientPush, library: Library, id: BlockId): HttpResponse | Promise<HttpResponse> {
  const found = push.findBlock(library, id)
  return found instanceof Promise ? found.then((block) => sendBytes(block, id)) : sendBytes(found, id)
}

function sendBytes(block: StoredBytes | undefined, id: BlockId): HttpResponse | Promise<HttpResponse> {
  const { size, read, readAtOnce } = block ?? fail({ code: 'block-missing', id })
  const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': size }
  const whole = { start: 0, end: size }
  const reading = readAtOnce(whole)
  if (reading === undefined)
    return startChunks(read(whole), size).then((body) => rawResponse({ headers, body }))
  const send = ({ bytes, release }: HeldBytes) => new HttpResponse(200, headers, bytes, release)
  return reading instanceof Promise ? reading.then(send) : send(reading)
}

async function* bounded(body: RequestBody): AsyncGenerator<Buffer, void> {
  let size = 0
  for (let chunk = await body.read(true); chunk !== undefined; chunk = await body.read(true)) {
    size += chunk.length
    if (size > LARGEST_BLOCK) throw badRequest('Block is too large')
    yield chunk
  }
}
