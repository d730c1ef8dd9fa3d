import { type BlockId, parseBlockId } from '../../base/objects/index.ts'
import { json, kinds } from '../../base/schemas/index.ts'
import { discardAll, type TakenBlock } from '../../libraries/content/index.ts'
import { type HttpRequest, type RequestBody, STREAM_BYTES } from '../../platform/http/index.ts'
import { rawText, type StreamedPart } from '../../platform/input/index.ts'
import { rawResponse } from '../../platform/responses/index.ts'
import { route, type TransferServices } from './services.ts'
import { content as contentSchema, uploadErrors } from './transfer.schema.ts'
import { UploadSession } from './upload-session.ts'
import { uploadError } from './upload-wire.ts'

/** Clients use blocks of at most about 10 MB. A range of a block is sent only after the whole block was verified. */
const LARGEST_BLOCK = 64 * 2 ** 20

/** Limit of small blocks buffered in memory. */
const HELD_BYTES = 8 * 2 ** 20

export const blockUploadRoutes = [
  route({
    method: 'POST',
    path: '/seafhttp/upload-raw-blks-api/:ticket',
    auth: 'none',
    summary: 'Receives blocks, each a file named by its id, for a later commit of the file.',
    params: { ticket: rawText() },
    body: 'raw',
    responses: () => ({ 200: json(kinds.literal('OK'), 'The blocks were stored.') }),
    details: () => ({
      errors: uploadErrors,
      multipart: kinds.object({
        file: kinds.anyOf([contentSchema, kinds.array(contentSchema)], {
          description: 'A block. Its file name is its id.',
        }),
      }),
    }),
    async handle({ params, request, body }, services) {
      await receiveBlocks(services, request, body, params.ticket ?? '')
      return rawResponse({ headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: '"OK"' })
    },
  }),
]

async function receiveBlocks(
  services: TransferServices,
  request: HttpRequest,
  body: RequestBody,
  ticket: string,
): Promise<void> {
  const { core, push } = services
  const operations = ['upload-blocks', 'update-blocks'] as const
  await using session = await UploadSession.open(services, request, body, ticket, operations)
  session.library.editable(session.ticketPath)
  const { bodyClaim } = request
  await bodyClaim.growTo(STREAM_BYTES)
  let taken: TakenBlock[] = []
  let held = 0
  let count = 0
  const hold = async () => {
    await push.holdBlocks(await session.editable(session.ticketPath), taken)
    taken = []
    held = 0
    bodyClaim.shrinkTo(STREAM_BYTES)
  }
  try {
    for (let part = await session.form.next(); part !== undefined; part = await session.form.next()) {
      if (part.name !== 'file' || part.filename === undefined) continue
      const block = await core.incoming.receiveBlock(blockIdOf(part), bounded(part.content))
      count += 1
      taken.push(block)
      held += block.bytes?.length ?? 0
      if (held > HELD_BYTES || !bodyClaim.tryGrowTo(STREAM_BYTES + held)) await hold()
    }
    if (count === 0) throw uploadError(400, 'No file uploaded.')
    session.checkBody()
    await hold()
    session.done()
  } catch (error) {
    await discardAll(taken)
    throw error
  }
}

function blockIdOf({ filename = '' }: StreamedPart): BlockId {
  const id = parseBlockId(filename)
  if (id === undefined) throw uploadError(400, 'Invalid block id.')
  return id
}

async function* bounded(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let size = 0
  for await (const piece of content) {
    size += piece.length
    if (size > LARGEST_BLOCK) throw uploadError(400, 'Block is too large.')
    yield piece
  }
}
