import { fail } from '../../base/errors.ts'
import { EMPTY_ID, type FsId, parseBlockId, parseCommitId, parseFsId } from '../../base/objects/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { type Chunks, rawResponse } from '../../platform/responses/index.ts'
import { PacketReader } from './packet-reader.ts'
import { badRequest, done, libraryParam, readIds } from './readers.ts'
import { route } from './services.ts'

const ENOUGH_PACKED = 2 ** 20

const params = { repo_id: libraryParam }
const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' }

export const objectRoutes = [
  route({
    method: 'GET',
    path: '/seafhttp/repo/:repo_id/fs-id-list/',
    auth: 'none',
    summary: 'Lists the ids of the dirs and files of one commit that differ from another at the same path.',
    params,
    query: { 'server-head': rawText(), 'client-head': rawText(), 'dir-only': rawText() },
    async handle({ params: { repo_id: id }, query, request }, { push, syncAccess }) {
      const serverHead = parseCommitId(query['server-head'] ?? '')
      if (serverHead === undefined) throw badRequest('Invalid server-head parameter.')
      const sent = query['client-head'] ?? ''
      const clientHead = sent === '' ? undefined : parseCommitId(sent)
      if (sent !== '' && clientHead === undefined) throw badRequest('Invalid client-head parameter.')
      const library = await syncAccess.open(request, id)
      const commit = await push.findCommit(library, serverHead)
      if (commit === undefined) return fail({ code: 'commit-not-found', id: serverHead })
      // A commit whose history was given up is treated as absent. An error would block the client permanently.
      const known = clientHead && (await push.findClientHead(library, clientHead))
      const ids = push.listObjects(library, commit.rootId, known?.rootId ?? EMPTY_ID, {
        dirsOnly: query['dir-only'] === '1',
      })
      return rawResponse({ headers: jsonHeaders, body: await beginList(ids) })
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/:repo_id/pack-fs/',
    auth: 'none',
    summary: 'Sends the requested dirs and files in sequence, up to a limit per response.',
    params,
    body: 'raw',
    faults: { 'object-missing': ({ id }) => [500, `Object ${id} is missing`] },
    async handle({ params: { repo_id: id }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.open(request, id)
      const ids = await readIds({ request, body, library }, parseFsId, { strict: true })
      // Clients would repeat the request after an empty response.
      if (ids.length === 0) throw badRequest('No ids in request')
      const packets = await push.packObjects(library, ids, ENOUGH_PACKED)
      return rawResponse({ headers: { 'Content-Type': 'application/octet-stream' }, body: packets })
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/:repo_id/check-fs/',
    auth: 'none',
    summary: 'Returns the dirs and files a client has to send.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.open(request, id)
      return push.missingObjects(
        library,
        await readIds({ request, body, library }, parseFsId, { strict: false }),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/:repo_id/check-blocks/',
    auth: 'none',
    summary: 'Returns the blocks a client has to send, including those that only other libraries hold.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.open(request, id)
      const ids = await readIds({ request, body, library }, parseBlockId, { strict: false })
      return push.missingBlocks(
        library,
        ids.filter((one) => one !== (EMPTY_ID as string)),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/seafhttp/repo/:repo_id/recv-fs/',
    auth: 'none',
    summary: 'Receives dirs and files for a later commit.',
    params,
    body: 'raw',
    async handle({ params: { repo_id: id }, request, body }, { push, syncAccess }) {
      const library = await syncAccess.edit(request, id)
      request.chargeTo(String(library.actor.key))
      const intake = push.receiveObjects(library)
      const packets = new PacketReader(body, request.bodyClaim)
      try {
        for (let object = await packets.next(); object !== undefined; object = await packets.next()) {
          await intake.add(object)
        }
      } finally {
        // Objects received before a fault are kept.
        await intake.finish()
      }
      return done
    },
  }),
]

/** A streamed JSON array. Resolves with the first part, so that early failures get an error response. */
async function beginList(ids: AsyncGenerator<FsId[], void>): Promise<Chunks | Buffer> {
  const first = await ids.next()
  if (first.done === true) return Buffer.from('[]')
  let next: Promise<IteratorResult<FsId[], void>> | undefined = Promise.resolve(first)
  let before = '["'
  let ended = false
  return {
    async next() {
      if (ended) return { done: true, value: undefined }
      const step = await (next ?? ids.next())
      next = undefined
      ended = step.done === true
      if (step.done === true) return { done: false, value: Buffer.from('"]') }
      const text = before + step.value.join('", "')
      before = '", "'
      return { done: false, value: Buffer.from(text, 'latin1') }
    },
    async return() {
      await ids.return()
    },
  }
}
